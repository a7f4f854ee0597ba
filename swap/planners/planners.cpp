// The table of planners, and the check of a plan against the budgets.
#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/keys.h"
#include "base/text.h"
#include "base/units.h"
#include "net/graph/graph.h"
#include "net/graph/operation.h"
#include "swap/plan/does_not_fit.h"
#include "swap/planners/planner.h"

namespace voxswap::swap {
namespace {

struct Row {
  std::string_view name;
  Plan (*plan)(const StepProblem&, bool quick);
};

constexpr std::array planner_table = {
    Row{"keep", plan_keep},              // nothing is swapped, nothing is recomputed
    Row{"hybrid", plan_hybrid},          // keeps, swaps or recomputes, so that the step is shortest
    Row{"checkpoint", plan_checkpoint},  // recomputes what does not fit
    Row{"tflms", plan_tflms},            // TensorFlow Large Model Support: by distance in topological levels
    Row{"lms-threshold", plan_lms_threshold},  // Caffe LMS: values above a threshold are in host memory
};

// Everything stays in managed memory, whose pages the driver moves between a GPU and its host. Not in the
// table, because devices that compute on the host have no such memory.
constexpr Row unified_row = {unified_planner, plan_unified};

std::string whole_mebibytes(std::int64_t bytes) {
  return format("{}MiB", (bytes + 1048575) / 1048576);
}

// The smallest budget for which this planner has a plan, to within 1 %.
std::int64_t smallest_budget_that_fits(const Row& row, const StepProblem& problem,
                                       std::int64_t known_to_fit) {
  StepProblem attempt = problem;
  std::int64_t low = problem.budgets.device, high = known_to_fit;
  while (high - low > high / 100 + (1 << 16)) {
    attempt.budgets.device = low + (high - low) / 2;
    (within(attempt.budgets, row.plan(attempt, /*quick=*/true)) ? high : low) = attempt.budgets.device;
  }
  return high;
}

[[noreturn]] void fail_over_budget(const Row& row, const StepProblem& problem, const Plan& plan, bool quick) {
  const net::Graph& graph = *problem.graph;
  const Budgets& budgets = problem.budgets;
  const auto tier_is_too_small = [&](const char* tier, std::int64_t budget, std::int64_t needed) {
    return format("{}: {} are too small: planner {} needs {} there", tier, format_bytes(budget), row.name,
                  format_bytes(needed));
  };
  if (plan.disk_bytes > budgets.disk && budgets.disk > 0)
    throw DoesNotFit(tier_is_too_small(key::memory_disk, budgets.disk, plan.disk_bytes),
                     {format("a larger {} budget", key::memory_disk),
                      format("a larger {} or {}", key::memory_host, key::memory_budget)});
  if (plan.peak_bytes <= largest_arena(budgets.device, plan.paged))
    throw DoesNotFit(tier_is_too_small(key::memory_host, budgets.host, plan.host_bytes),
                     {format("a larger {}", key::memory_host), format("a {}", key::memory_disk),
                      format("a larger {}", key::memory_budget)});

  const Floor floor = least_budget(graph, problem.workspaces, problem.kept);
  const auto peak = std::max_element(plan.live_bytes.begin(), plan.live_bytes.end());
  net::NodeId at = net::none;
  for (auto i = peak - plan.live_bytes.begin(); i >= 0 && at == net::none; --i)
    at = plan.instructions[static_cast<std::size_t>(i)].node;
  std::int64_t needed =
      plan.paged ? (plan.peak_bytes + most_oversubscription - 1) / most_oversubscription : plan.peak_bytes;
  if (budgets.device < floor.bytes) at = floor.node;
  // Not for quick plans, of which a search for the largest size makes many: this takes several further plans.
  if (!quick && row.name != "keep" && row.name != unified_planner && row.name != "lms-threshold")
    needed = smallest_budget_that_fits(row, problem, plan.peak_bytes);
  const net::Node& node = graph.node(at);
  std::vector<std::string> remedies = {
      format("a {} of at least {}", key::memory_budget, whole_mebibytes(needed))};
  if (budgets.host == 0) remedies.push_back(format("a host pool ({})", key::memory_host));
  throw DoesNotFit(
      format("{}: {} ({}) is too small: planner {} needs {} {} ({}), {} of it for parameters and optimiser "
             "state. Node '{}' ({}) needs the most. No planner can use less{}",
             key::memory_budget, format_bytes(budgets.device), counted(budgets.device, "byte"), row.name,
             quick ? "about" : "at least", format_bytes(needed), counted(needed, "byte"),
             format_bytes(plan.persistent_bytes), node.name, node.operation->name,
             floor.bytes < needed ? " than " + format_bytes(floor.bytes) : ""),
      remedies);
}

const Row& find_planner(const std::string& planner) {
  for (const Row& row : planner_table)
    if (row.name == planner) return row;
  if (planner == unified_planner) return unified_row;
  const std::string near = nearest(planner, planner_names());
  fail(Exit::usage, "{}: unknown planner '{}'. There are {}{}", key::memory_planner, planner,
       join(planner_names(), ", "), near.empty() ? "" : format(". Did you mean '{}'?", near));
}

}  // namespace

bool within(const Budgets& budgets, const Plan& plan) {
  return plan.peak_bytes <= largest_arena(budgets.device, plan.paged) && plan.host_bytes <= budgets.host &&
         plan.disk_bytes <= budgets.disk;
}

std::vector<std::string> planner_names() {
  std::vector<std::string> names;
  for (const Row& row : planner_table) names.emplace_back(row.name);
  return names;
}

namespace {

StepProblem within_less(const StepProblem& problem, std::int64_t left_free) {
  StepProblem less = problem;
  less.left_free = 0;
  less.budgets.device -= left_free;
  return less;
}

}  // namespace

Plan make_plan(const std::string& planner, const StepProblem& problem, bool quick) {
  if (problem.left_free > 0) {
    StepProblem less = within_less(problem, problem.left_free), one;
    if (less.one_sample != nullptr) {
      one = within_less(*less.one_sample, problem.left_free);
      less.one_sample = &one;
    }
    try {
      return make_plan(planner, less, quick);
    } catch (const DoesNotFit&) {
      // The whole budget is needed.
    }
  }
  const Row& row = find_planner(planner);
  // Below the least budget no search can succeed: a quick plan is enough for the message.
  const Floor floor = least_budget(*problem.graph, problem.workspaces, problem.kept);
  Plan plan = row.plan(problem, quick || problem.budgets.device < floor.bytes);
  if (!within(problem.budgets, plan)) fail_over_budget(row, problem, plan, quick);
  return plan;
}

}  // namespace voxswap::swap
