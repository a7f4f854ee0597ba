// Measures a cost model. The steps run under `keep` if it is within the budget, otherwise under `checkpoint`,
// which moves nothing, or under `hybrid` with estimated costs: the time of a node does not depend on the
// plan.
#include "swap/measure/profile.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <vector>

#include "base/checksummed_file.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/shape.h"
#include "base/text.h"
#include "swap/measure/copy_rates.h"
#include "swap/measure/noise.h"
#include "swap/measure/timed_steps.h"
#include "swap/planners/planner.h"

namespace voxswap::swap {
namespace {

constexpr int format_version = 4;          // of the measurement; part of the cache's key
constexpr double long_step = 2;            // seconds: such a step needs no warm-up
constexpr double patience = 60;            // seconds: start no further step after this time
constexpr double least_beside_copies = 1;  // seconds of steps with concurrent copies

void measure_nodes(TimedSteps& steps, int wanted) {
  Progress progress("measuring", "steps", wanted + 1);
  const auto run_and_time = [&] {
    steps.run_and_time();
    progress.advance();
  };
  run_and_time();
  if (steps.all_seconds() < long_step) steps.forget();
  while (steps.steps() < std::max(wanted, 1) && steps.all_seconds() < patience) run_and_time();
}

// Derives the mutual slowdown of copies and kernels.
void measure_interference(net::Backend& backend, TimedSteps& steps, net::Memory& device, net::Memory& host,
                          CostModel& costs) {
  double seconds = 0, compute = 0;
  int count = 0;
  BackgroundCopies copies(backend, device, host);
  for (; count == 0 || seconds < least_beside_copies; ++count) {
    const StepReport& report = steps.run();
    seconds += report.seconds;
    compute += report.compute_seconds;
  }
  copies.finish();
  if (copies.bytes() == 0) return;
  const auto bytes = static_cast<double>(copies.bytes());
  costs.to_host.busy = std::min(costs.to_host.alone, bytes / copies.to_host_seconds());
  costs.to_device.busy = std::min(costs.to_device.alone, bytes / copies.to_device_seconds());
  const double beside_kernels = 2 * bytes * compute / seconds;  // both directions
  const double lost = compute - count * steps.usual_compute_seconds();
  costs.interference = std::max(0.0, lost / beside_kernels);
}

// The copies need device memory in addition to the plan. It is taken from the budget unless that is the least
// possible.
Plan plan_steps(CompiledGraph& compiled, const ProfileRequest& request, std::int64_t budget,
                std::int64_t reserve) {
  const CostModel estimate = estimate_costs(
      compiled.graph(), find_device_rates(compiled.backend().computes_on_host() ? "cpu" : "a100"));
  StepProblem problem;
  problem.graph = &compiled.graph();
  problem.workspaces = compiled.workspaces();
  problem.kept = request.kept;
  problem.costs = &estimate;
  problem.budgets = {budget - reserve, request.host_budget_bytes,
                     request.disk_folder.empty() ? 0 : request.disk_budget_bytes};
  const Floor floor = least_budget(compiled.graph(), compiled.workspaces(), request.kept);
  for (const char* planner : {"keep", "checkpoint", "hybrid"}) {
    if (problem.budgets.device < floor.bytes) break;
    try {
      return make_plan(planner, problem);
    } catch (const Error& error) {
      if (error.exit() != Exit::does_not_fit) throw;
    }
  }
  problem.budgets.device = budget;
  return make_plan("hybrid", problem);
}

CostModel measure(CompiledGraph& compiled, const ProfileRequest& request) {
  net::Backend& backend = compiled.backend();
  log::info("measuring all kernels and copies of a step on {}{}", backend.description(),
            request.remember && !request.cache.empty() ? "; the results are cached" : "");
  const std::int64_t free = backend.free_bytes();
  const std::int64_t budget = std::min(request.budget_bytes, free);
  const std::int64_t reserve = std::min(4 * measured_chunk, budget / 8);
  const Plan plan = plan_steps(compiled, request, budget, reserve);
  const Tiers tiers = allocate_tiers(backend, {&plan}, request.disk_folder, request.host_as_asked);
  // Without a host pool, only inputs cross the link.
  const std::int64_t on_host = std::clamp(request.host_budget_bytes, measured_chunk, 4 * measured_chunk);
  const std::unique_ptr<net::Memory> device = backend.allocate(std::max<std::int64_t>(reserve, 64)),
                                     host = backend.allocate_host(on_host);
  CostModel costs;
  measure_copies(backend, *tiers.arena, *host, costs);
  if (!request.disk_folder.empty())
    measure_disk(request.disk_folder, request.disk_budget_bytes, *host, costs);
  TimedSteps steps(compiled, plan, tiers);
  const WaitsForCores waits;
  measure_nodes(steps, request.steps);
  costs.noise = std::max(steps.spread(), backend.computes_on_host() ? waits.share() : 0);
  costs.node_seconds = steps.node_seconds();
  measure_interference(backend, steps, *device, *host, costs);
  costs.source = format("measured on {} ({}): {} under planner {}", backend.name(), backend.description(),
                        counted(steps.steps(), "step"), plan.planner);
  if (costs.is_noisy())
    costs.source += format("; other programs slowed them down by up to {:.0f} %", 100 * costs.noise);
  return costs;
}

// The system's name of the processor; empty if unknown.
std::string processor() {
  std::istringstream file(read_if_possible("/proc/cpuinfo"));
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line;
  return "";
}

// Values that no node uses do not matter for times. A run has optimiser state in the graph of its inference
// step, a prediction has not, and both share one measurement.
std::vector<bool> touched(const net::Graph& graph) {
  std::vector<bool> result(graph.values().size(), false);
  for (const net::Node& node : graph.nodes())
    for (const std::vector<net::ValueId>* ids : {&node.inputs, &node.outputs, &node.updates})
      for (const net::ValueId id : *ids) result[index(id)] = true;
  return result;
}

std::string key(CompiledGraph& compiled, const ProfileRequest& request) {
  const net::Backend& backend = compiled.backend();
  const net::Graph& graph = compiled.graph();
  Hasher hasher;
  hasher.add(format("{} {} {} {}", format_version, backend.name(), backend.description(), processor()));
  hasher.add(request.disk_folder.string());
  const std::vector<bool> counts = touched(graph);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const net::Value& value = graph.values()[i];
    if (counts[i])
      hasher.add(format("{} {} {}", value.name, value.shape.text(), net::element_name(value.type)));
  }
  hasher.add(graph.text());
  return hasher.digest();
}

std::optional<CostModel> read_cached(const fs::path& path, std::size_t nodes) {
  const std::optional<std::string> kept = read_checksummed(path);
  if (!kept) return std::nullopt;
  try {
    CostModel costs = parse_costs(*kept);
    if (costs.node_seconds.size() == nodes) return costs;
    log::warn("{}: has the costs of {}, but the step has {}. Measured again", path.string(),
              counted(costs.node_seconds.size(), "node"), nodes);
  } catch (const Error& error) {
    log::warn("{}: {}. Measured again", path.string(), error.what());
  }
  return std::nullopt;
}

// Best effort: a cache that is not writable is no error.
void remember(const fs::path& path, const CostModel& costs) {
  try {
    make_writable_directory(path.parent_path());
    write_checksummed(path, costs_json(costs));
  } catch (const Error& error) {
    log::warn("the measured costs cannot be cached: {}", error.what());
  }
}

fs::path file_of(CompiledGraph& compiled, const ProfileRequest& request) {
  return request.cache.empty() ? fs::path() : request.cache / (key(compiled, request) + ".costs");
}

void cap(Link& link, double rate) {
  if (rate <= 0) return;
  link.alone = std::min(link.alone, rate);
  link.busy = std::min(link.busy, rate);
}

}  // namespace

CostModel measure_costs(CompiledGraph& compiled, const ProfileRequest& request) {
  const fs::path path = file_of(compiled, request);
  std::optional<CostModel> costs;
  if (request.disproved != nullptr)
    costs = *request.disproved;
  else if (!path.empty())
    costs = read_cached(path, compiled.graph().nodes().size());
  if (costs && request.disproved == nullptr) log::debug("{}: costs {}", path.string(), costs->source);
  if (!costs || request.disproved != nullptr) {
    CostModel measured = measure(compiled, request);
    if (!costs || !measured.is_noisy() || measured.all_nodes() < costs->all_nodes()) {
      costs = std::move(measured);
      if (!path.empty() && request.remember) remember(path, *costs);
    }
  }
  cap(costs->to_host, request.to_host_rate);
  cap(costs->to_device, request.to_device_rate);
  return *std::move(costs);
}

void forget_costs(CompiledGraph& compiled, const ProfileRequest& request) {
  error_code ignored;
  if (const fs::path path = file_of(compiled, request); !path.empty()) fs::remove(path, ignored);
}

CostModel measure_links(net::Backend& backend, const fs::path& disk_folder) {
  const std::unique_ptr<net::Memory> device = backend.allocate(4 * measured_chunk),
                                     host = backend.allocate_host(4 * measured_chunk);
  CostModel costs;
  costs.source = format("measured on {} ({})", backend.name(), backend.description());
  measure_copies(backend, *device, *host, costs);
  if (!disk_folder.empty()) measure_disk(disk_folder, host->bytes(), *host, costs);
  return costs;
}

}  // namespace voxswap::swap
