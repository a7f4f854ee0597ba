#include "pipeline/plan/planning.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/keys.h"
#include "base/log.h"
#include "base/parse_number.h"
#include "base/progress.h"
#include "base/units.h"
#include "net/backends/backends.h"
#include "net/graph/sample_name.h"
#include "net/networks/networks.h"
#include "pipeline/cases/loss_settings.h"
#include "pipeline/cases/patches.h"
#include "swap/measure/profile.h"
#include "swap/planners/planner.h"

namespace voxswap::pipeline {

std::int64_t without_reserve(std::int64_t free) {
  return std::max<std::int64_t>(free - std::max<std::int64_t>(free / 10, 512LL << 20), 1);
}

namespace {

// Of memory that device and host share, the part for the host pool when nobody says how much: none, unless it
// is the way to the disk.
std::int64_t shared_pool(const MemoryOptions& memory, std::int64_t usable) {
  if (memory.host_bytes) return *memory.host_bytes;
  return memory.disk_bytes > 0 ? usable / 8 : 0;
}

}  // namespace

swap::Budgets budgets_in_one_memory(std::int64_t usable, const MemoryOptions& memory) {
  swap::Budgets budgets;
  if (!memory.budget_bytes && memory.host_bytes && *memory.host_bytes >= usable)
    fail(Exit::does_not_fit,
         "{}: {} are as much as device and host, which share their memory here, have free "
         "together ({}); lower it, or set {} as well",
         key::memory_host, format_bytes(*memory.host_bytes), format_bytes(usable), key::memory_budget);
  budgets.device = memory.budget_bytes ? *memory.budget_bytes
                                       : std::max<std::int64_t>(usable - shared_pool(memory, usable), 1);
  budgets.host = memory.host_bytes.value_or(std::max<std::int64_t>(usable - budgets.device, 0));
  budgets.disk = memory.disk_bytes;
  return budgets;
}

namespace {

// Of a device that is not here, the host is taken to have as much as anybody could ask for.
constexpr std::int64_t ample_host_bytes = std::int64_t{1} << 40;

void set_rate(swap::Link& link, double rate, bool as_limit) {
  if (rate <= 0) return;
  link.alone = as_limit ? std::min(link.alone, rate) : rate;
  link.busy = as_limit ? std::min(link.busy, rate) : rate;
}

// tf32 is f32 in memory.
net::ElementType element_type(Precision precision) {
  return precision == Precision::tf32 ? net::ElementType::f32
                                      : net::parse_element_type(choice_name(precision));
}

// On a device that is not here.
net::ElementType precision_elsewhere(const swap::DeviceRates& device, Precision precision) {
  if (precision == Precision::automatic) return device.fastest;
  const net::ElementType type = element_type(precision);
  if (type == net::ElementType::bf16 && device.fastest == net::ElementType::f16)
    fail(Exit::usage, "{}: {} does not run in bf16; f16, f32 and auto are what it can do",
         key::training_precision, device.name);
  return type;
}

// N of "cuda:N".
int device_number(const std::string& device) {
  const auto number = parse_number<int>(device.substr(5));
  if (!number)
    fail(Exit::usage, "{}: expected cuda:N with the number of a GPU, found '{}'", key::memory_device, device);
  return *number;
}

std::unique_ptr<net::Backend> open_gpu(const std::string& device, net::BackendOptions options) {
  if (device != "cuda") options.device = device_number(device);
  try {
    return net::make_backend("cuda", options);
  } catch (const Error& error) {
    if (error.exit() != Exit::does_not_fit) throw;
    fail(Exit::does_not_fit,
         "{}: {}: no CUDA device: {}; `voxswap info` lists the devices, {}: cpu needs none",
         key::memory_device, device, error.what(), key::memory_device);
  }
}

// A GPU that cannot be used is worth a word; that there is none is not.
std::unique_ptr<net::Backend> open_best(const net::BackendOptions& options) {
  if (net::device_count("cuda") == 0) return net::make_backend("onednn", options);
  try {
    return net::make_backend("cuda", options);
  } catch (const Error& error) {
    if (error.exit() != Exit::does_not_fit) throw;
    log::warn("{}: auto: the CPU computes, because the GPU cannot: {}", key::memory_device, error.what());
    return net::make_backend("onednn", options);
  }
}

// What estimates of a device that is here are made from: of GPUs, the one that is most like it.
const swap::DeviceRates& rates_of(const net::Backend& backend) {
  if (backend.computes_on_host()) return swap::find_device_rates("cpu");
  if (const swap::DeviceRates* device = swap::device_in(backend.description())) return *device;
  return swap::find_device_rates("a100");
}

}  // namespace

std::unique_ptr<net::Backend> open_device(const std::string& device, const net::BackendOptions& options) {
  if (device == "auto") return open_best(options);
  if (device == "cpu") return net::make_backend("onednn", options);
  if (device == "reference") return net::make_backend("reference", options);
  if (device == "cuda" || device.starts_with("cuda:")) return open_gpu(device, options);
  fail(Exit::usage, "{}: there is no device '{}'; there are auto, cpu, cuda, cuda:N, reference",
       key::memory_device, device);
}

net::BackendOptions backend_options(const TrainingOptions& training) {
  net::BackendOptions options;
  options.deterministic = training.deterministic;
  options.tensor_floats = training.precision == Precision::tf32;
  return options;
}

net::ElementType choose_precision(const net::Backend& backend, Precision precision) {
  if (precision == Precision::automatic) return backend.fastest_type();
  const net::ElementType type = element_type(precision);
  if (!backend.supports(type) || (precision == Precision::tf32 && backend.computes_on_host())) {
    fail(Exit::usage, "{}: {} does not run in {} here ({})", key::training_precision, backend.name(),
         choice_name(precision), backend.description());
  }
  return type;
}

swap::Budgets choose_budgets(const net::Backend& backend, const MemoryOptions& memory, int sharers) {
  if (backend.computes_on_host())
    return budgets_in_one_memory(without_reserve(backend.free_bytes()) / sharers, memory);
  swap::Budgets budgets;
  budgets.device = memory.budget_bytes ? *memory.budget_bytes : without_reserve(backend.free_bytes());
  budgets.host = memory.host_bytes.value_or(without_reserve(backend.free_host_bytes()) / sharers);
  budgets.disk = memory.disk_bytes;
  return budgets;
}

namespace {

// Where nobody says which: of a machine's GPUs, each of its ranks takes the next. A launcher may also show
// each rank one alone.
int gpu_of_rank(const net::Ranks& ranks) {
  const int gpus = net::device_count("cuda");
  return gpus > 1 ? ranks.index_on_this_machine() % gpus : 0;
}

}  // namespace

std::string Target::description() const {
  return backend ? backend->description() : "as if on " + rates->name;
}

std::int64_t Target::voxel_alignment() const {
  return backend ? backend->voxel_alignment() : rates->voxel_alignment;
}

Target open_target(const RunOptions& options, const std::string& as, bool tuned) {
  Target target;
  if (as.empty()) {
    net::BackendOptions how = backend_options(options.training);
    how.tuned = tuned;
    how.device = gpu_of_rank(*options.ranks);
    target.backend = open_device(options.memory.device, how);
    if (options.memory.planner == swap::unified_planner && target.backend->computes_on_host())
      fail(Exit::usage,
           "{}: unified is for a GPU, whose memory it lets move to the host by itself; the device "
           "here is the CPU: choose {}",
           key::memory_planner, join(swap::planner_names(), ", "));
    target.rates = &rates_of(*target.backend);
    target.precision = choose_precision(*target.backend, options.training.precision);
    target.budgets = choose_budgets(*target.backend, options.memory, options.ranks->on_this_machine());
    return target;
  }
  const MemoryOptions& memory = options.memory;
  target.rates = &swap::find_device_rates(as);
  target.precision = precision_elsewhere(*target.rates, options.training.precision);
  target.budgets.device = memory.budget_bytes.value_or(target.rates->memory_bytes);
  target.budgets.host = memory.host_bytes.value_or(ample_host_bytes);
  target.budgets.disk = memory.disk_bytes;
  return target;
}

PlannableStep plannable(const Target& target, net::Graph graph, std::vector<net::ValueId> kept,
                        net::Exchange* exchange) {
  PlannableStep step;
  step.graph = std::move(graph);
  step.kept = std::move(kept);
  if (target.backend) {
    const Doing doing("compiling kernels");
    step.compiled = std::make_unique<swap::CompiledGraph>(*target.backend, step.graph, exchange);
    step.workspaces = step.compiled->workspaces();
  } else {
    step.workspaces.assign(step.graph.nodes().size(), 0);
  }
  return step;
}

PlannableStep plannable_training(const Target& target, const Steps& steps, net::Exchange& exchange) {
  PlannableStep step = plannable(target, steps.training->graph, {steps.training->loss}, &exchange);
  if (steps.one_sample)
    step.one_sample =
        std::make_unique<PlannableStep>(plannable(target, steps.one_sample->graph, {steps.one_sample->loss}));
  return step;
}

namespace {

// What the nodes of one sample take, for those of all; what one sample has not (sums over samples) is
// estimated already.
void spread_costs(const PlannableStep& one, PlannableStep& step) {
  std::map<std::string, double> seconds;
  for (std::size_t i = 0; i < one.graph.nodes().size(); ++i)
    seconds[one.graph.nodes()[i].name] = one.costs->node_seconds[i];
  std::vector<double> all = std::move(step.costs->node_seconds);
  step.costs = *one.costs;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (const auto name = net::name_in_one_sample(step.graph.nodes()[i].name))
      if (const auto found = seconds.find(*name); found != seconds.end()) all[i] = found->second;
  step.costs->node_seconds = std::move(all);
}

// The other way round. What only sums over samples have another name of (whether they are finite) takes next
// to nothing.
swap::CostModel costs_of_one(const PlannableStep& step) {
  const PlannableStep& one = *step.one_sample;
  std::map<std::string, double> seconds;
  for (std::size_t i = 0; i < step.graph.nodes().size(); ++i)
    if (const auto name = net::name_in_one_sample(step.graph.nodes()[i].name))
      seconds.emplace(*name, step.costs->node_seconds[i]);
  swap::CostModel costs = *step.costs;
  costs.node_seconds.clear();
  for (const net::Node& node : one.graph.nodes()) costs.node_seconds.push_back(seconds[node.name]);
  return costs;
}

}  // namespace

swap::CostModel estimate(const PlannableStep& step, const Target& target, const MemoryOptions& memory) {
  swap::CostModel costs = swap::estimate_costs(step.graph, *target.rates);
  const bool is_here = target.backend != nullptr;
  set_rate(costs.to_host, memory.to_host_rate, is_here);
  set_rate(costs.to_device, memory.to_device_rate, is_here);
  if (target.network) swap::set_exchange_seconds(step.graph, *target.network, costs);
  return costs;
}

swap::CostModel measure(PlannableStep& step, const Target& target, const RunOptions& options, bool remember) {
  if (step.one_sample) {
    step.costs = estimate(step, target, options.memory);
    step.one_sample->costs = measure(*step.one_sample, target, options, remember);
    spread_costs(*step.one_sample, step);
    if (target.network) swap::set_exchange_seconds(step.graph, *target.network, *step.costs);
    return *step.costs;
  }
  swap::ProfileRequest request;
  request.kept = step.kept;
  request.budget_bytes = target.budgets.device;
  request.host_budget_bytes = target.budgets.host;
  request.host_as_asked = options.memory.host_bytes.has_value();
  request.disk_folder = options.memory.disk_folder;
  request.disk_budget_bytes = target.budgets.disk;
  request.to_host_rate = options.memory.to_host_rate;
  request.to_device_rate = options.memory.to_device_rate;
  if (!options.cache.empty()) request.cache = options.cache / "costs";
  request.remember = remember;
  try {
    swap::CostModel costs = swap::measure_costs(*step.compiled, request);
    if (target.network) swap::set_exchange_seconds(step.graph, *target.network, costs);
    return costs;
  } catch (const Error& error) {
    if (error.exit() != Exit::does_not_fit) throw;
    step.costs = estimate(step, target, options.memory);
    plan_step(options.memory.planner, step, target.budgets, options.memory);
    throw;
  }
}

swap::Plan plan_step(const std::string& planner, const PlannableStep& step, const swap::Budgets& budgets,
                     const MemoryOptions& memory, bool quick) {
  swap::PlanRequest request;
  request.graph = &step.graph;
  request.workspaces = step.workspaces;
  request.budgets = budgets;
  request.kept = step.kept;
  request.costs = step.costs ? &*step.costs : nullptr;
  request.tflms = memory.tflms;
  request.lms_threshold = memory.lms_threshold;
  request.quick = quick;
  swap::PlanRequest one = request;
  std::optional<swap::CostModel> costs;
  if (step.one_sample && step.costs) {
    costs = costs_of_one(step);
    one.graph = &step.one_sample->graph;
    one.workspaces = step.one_sample->workspaces;
    one.kept = step.one_sample->kept;
    one.costs = &*costs;
    request.one_sample = &one;
  }
  std::optional<Doing> doing;
  if (!quick) doing.emplace("planning, " + planner);
  return swap::make_plan(planner, request);
}

std::optional<swap::Plan> plan_staying(const PlannableStep& step, const swap::Budgets& budgets,
                                       const MemoryOptions& memory) {
  try {
    return plan_step("keep", step, budgets, memory);
  } catch (const Error& error) {
    if (error.exit() != Exit::does_not_fit) throw;
    return std::nullopt;
  }
}

swap::Bound bound_of(const PlannableStep& step, const swap::Budgets& budgets) {
  return swap::lower_bound(step.graph, step.workspaces, step.kept, *step.costs, budgets);
}

net::StepOptions step_options(const RunOptions& options, std::int64_t channels, std::int64_t outputs,
                              const Target& target) {
  net::StepOptions step;
  step.network = options.network;
  const data::Size3 side = input_size(options);
  step.input = Shape{1, side[2], side[1], side[0], channels};
  step.voxel_alignment = target.voxel_alignment();
  step.outputs = outputs;
  step.activations = target.precision;
  step.loss = loss_of(options.training);
  step.optimizer = options.training.optimizer;
  step.pieces = options.memory.pieces;
  return step;
}

Steps build_steps(const RunOptions& options, std::int64_t channels, std::int64_t outputs,
                  const Target& target, bool trains) {
  Steps steps;
  net::StepOptions step = step_options(options, channels, outputs, target);
  steps.inference = net::build_inference_step(step, trains);
  if (!trains) return steps;
  if (net::takes_batch_at_once(options.network.name) && options.ranks->is_alone())
    step.input[0] = options.training.batch_size;
  else
    step.share = net::share_of(options.training.batch_size, options.ranks->rank(), options.ranks->count());
  steps.training = net::build_training_step(step);
  // Where samples wait for one another, what is best for one is not for the batch.
  if (step.share.count > 1 && !step.loss.batch_dice) {
    step.share = {};
    steps.one_sample = net::build_training_step(step);
  }
  for (net::ValueId id : steps.training->optimizer_state) {
    const net::Value& value = steps.training->graph.value(id);
    steps.inference.graph.add_value(value.name, value.shape, value.type, value.role);
  }
  return steps;
}

std::int64_t held_beside(const RunOptions& options, const Steps& steps) {
  if (!steps.training || options.training.averaging.name == Averaging::none) return 0;
  std::int64_t bytes = 0, largest = 0;  // of the mean, and of what is on its way
  for (const net::ValueId id : steps.training->parameters) {
    bytes += steps.training->graph.value(id).bytes();
    largest = std::max(largest, steps.training->graph.value(id).bytes());
  }
  return bytes + largest;
}

void leave_room(Target& target, const MemoryOptions& memory, std::int64_t bytes) {
  const bool shared = target.backend && target.backend->computes_on_host();
  std::int64_t& budget = shared ? target.budgets.device : target.budgets.host;
  if (shared ? memory.budget_bytes.has_value() : memory.host_bytes.has_value()) return;
  budget = std::max<std::int64_t>(budget - bytes, 1);
}

std::vector<net::ValueId> kept_values(const net::InferenceStep& step) {
  std::vector<net::ValueId> kept = step.probabilities;
  if (step.loss != net::none) kept.push_back(step.loss);
  return kept;
}

}  // namespace voxswap::pipeline
