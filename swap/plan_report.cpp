// A plan for machines (plan.json) and for people (what fills the arena at its fullest).
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "base/units.h"
#include "net/operation.h"
#include "swap/plan.h"

namespace voxswap {
namespace {

std::string_view role_name(Role role) {
  switch (role) {
    case Role::input:
      return "input";
    case Role::parameter:
      return "parameter";
    case Role::optimizer_state:
      return "optimizer_state";
    case Role::activation:
      return "activation";
    case Role::statistic:
      return "statistic";
    case Role::gradient:
      return "gradient";
  }
  return "";
}

std::int32_t fullest_instruction(const Plan& plan) {
  const auto peak = std::max_element(plan.live_bytes.begin(), plan.live_bytes.end());
  return static_cast<std::int32_t>(peak - plan.live_bytes.begin());
}

// How far the arena is above the largest live sum, in per cent of that sum.
double percent_above_limit(const Plan& plan) {
  if (plan.live_peak_bytes == 0) return 0;
  return 100 * (static_cast<double>(plan.peak_bytes) / static_cast<double>(plan.live_peak_bytes) - 1);
}

std::vector<std::string> row(const Graph& graph, const Plan& plan, const Residency& r) {
  const std::string span = format("{}-{}", r.first, r.last);
  const std::string share =
      format("{:.1f}", 100 * static_cast<double>(r.bytes) / static_cast<double>(plan.live_peak_bytes));
  if (r.value == none)
    return {"workspace of " + graph.node(r.node).name, "workspace", "", format_bytes(r.bytes), share, span};
  const Value& value = graph.value(r.value);
  return {value.name,
          std::string(role_name(value.role)),
          format("{} {}", value.shape.text(), element_name(value.type)),
          format_bytes(r.bytes),
          share,
          span};
}

}  // namespace

std::string plan_json(const Graph& graph, const Plan& plan) {
  using Json = nlohmann::ordered_json;
  Json root = {{"planner", plan.planner},
               {"budget_bytes", plan.budget_bytes},
               {"peak_bytes", plan.peak_bytes},
               {"persistent_bytes", plan.persistent_bytes},
               {"live_peak_bytes", plan.live_peak_bytes}};
  root["kept"] = Json::array();
  for (const ValueId value : plan.kept) root["kept"].push_back(graph.value(value).name);
  root["instructions"] = Json::array();
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    const NodeId node = plan.instructions[i].node;
    root["instructions"].push_back({{"kind", "run"},
                                    {"node", node},
                                    {"name", graph.node(node).name},
                                    {"operation", graph.node(node).operation->name},
                                    {"live_bytes", plan.live_bytes[i]}});
  }
  root["residencies"] = Json::array();
  for (const Residency& r : plan.residencies) {
    Json entry;
    if (r.value != none) {
      const Value& value = graph.value(r.value);
      entry = {{"value", r.value},
               {"name", value.name},
               {"role", role_name(value.role)},
               {"shape", value.shape.extents()},
               {"type", element_name(value.type)}};
    } else {
      entry = {{"workspace_of", r.node}, {"name", graph.node(r.node).name}};
    }
    entry.update({{"offset", r.offset}, {"bytes", r.bytes}, {"first", r.first}, {"last", r.last}});
    root["residencies"].push_back(entry);
  }
  return root.dump(1) + "\n";
}

std::string plan_text(const Graph& graph, const Plan& plan) {
  std::string text = format("planner {}, {} instructions", plan.planner, plan.instructions.size());
  text += plan.budget_bytes > 0 ? format(", budget {}\n", format_bytes(plan.budget_bytes))
                                : std::string(", no budget\n");
  text += format("peak                {:>12}   the arena: everything on the device\n",
                 format_bytes(plan.peak_bytes));
  text += format("largest live sum    {:>12}   no packing can be smaller; the peak is {:.2f} % above it\n",
                 format_bytes(plan.live_peak_bytes), percent_above_limit(plan));
  text += format("persistent          {:>12}   parameters and optimiser state\n",
                 format_bytes(plan.persistent_bytes));
  if (plan.instructions.empty()) return text;

  const std::int32_t at = fullest_instruction(plan);
  const Node& node = graph.node(plan.instructions[static_cast<std::size_t>(at)].node);
  std::vector<Residency> live;
  for (const Residency& r : plan.residencies)
    if (r.first <= at && at <= r.last) live.push_back(r);
  std::stable_sort(live.begin(), live.end(),
                   [](const Residency& a, const Residency& b) { return a.bytes > b.bytes; });
  constexpr std::size_t shown = 12;
  text += format("\nfullest at instruction {}: '{}' ({}). The largest of {} values live there:\n", at,
                 node.name, node.operation->name, live.size());
  std::vector<std::vector<std::string>> rows = {{"value", "role", "shape", "size", "%", "instructions"}};
  for (std::size_t i = 0; i < std::min(live.size(), shown); ++i) rows.push_back(row(graph, plan, live[i]));
  return text + table(rows);
}

}  // namespace voxswap
