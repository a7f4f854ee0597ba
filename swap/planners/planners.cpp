// The table of planners, and the check of a plan against the budget.
#include "swap/planners/planners.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/units.h"
#include "net/operation.h"

namespace voxswap {
namespace {

struct Row {
  std::string_view name, summary;
  Plan (*plan)(const PlanRequest&);
};

constexpr std::array planner_table = {
    Row{"keep", "nothing leaves the device and nothing is computed again", plan_keep},
};

[[noreturn]] void fail_over_budget(const Graph& graph, const Plan& plan) {
  const auto peak = std::max_element(plan.live_bytes.begin(), plan.live_bytes.end());
  const Node& node =
      graph.node(plan.instructions[static_cast<std::size_t>(peak - plan.live_bytes.begin())].node);
  const bool wide = std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    const Value& value = graph.value(id);
    return !value.persistent() && value.role != Role::input && element_bytes(value.type) > 2 &&
           value.shape.rank() == 5;
  });
  fail(
      Exit::does_not_fit,
      "memory.budget: {} ({} bytes) is too small: planner {} needs {} ({} bytes), of which {} are parameters "
      "and optimiser state; the most is needed at node '{}' ({}). What would help: a lower "
      "preprocess.resolution, fewer network.base_filters, {}or a memory.budget of at least {}",
      format_bytes(plan.budget_bytes), plan.budget_bytes, plan.planner, format_bytes(plan.peak_bytes),
      plan.peak_bytes, format_bytes(plan.persistent_bytes), node.name, node.operation->name,
      wide ? "training.precision: bf16, " : "", format("{}MiB", (plan.peak_bytes + 1048575) / 1048576));
}

}  // namespace

std::vector<std::string> planner_names() {
  std::vector<std::string> names;
  for (const Row& row : planner_table) names.emplace_back(row.name);
  return names;
}

std::string planner_summary(const std::string& planner) {
  for (const Row& row : planner_table)
    if (row.name == planner) return std::string(row.summary);
  return "";
}

Plan make_plan(const std::string& planner, const PlanRequest& request) {
  for (const Row& row : planner_table) {
    if (row.name != planner) continue;
    Plan plan = row.plan(request);
    if (request.budgets.device > 0 && plan.peak_bytes > request.budgets.device)
      fail_over_budget(*request.graph, plan);
    return plan;
  }
  const std::string near = nearest(planner, planner_names());
  fail(Exit::usage, "memory.planner: there is no planner '{}'; there are {}{}", planner,
       join(planner_names(), ", "), near.empty() ? "" : format(". Did you mean '{}'?", near));
}

}  // namespace voxswap
