#include "swap/plan/places.h"

#include <algorithm>

#include "net/graph/operation.h"

namespace voxswap::swap {

namespace {

// The residency that spans the instruction. REQUIRES: residencies in order of time.
const Residency* spanning(const std::vector<const Residency*>& residencies, std::int32_t instruction) {
  auto after = std::upper_bound(residencies.begin(), residencies.end(), instruction,
                                [](std::int32_t i, const Residency* r) { return i < r->first; });
  if (after == residencies.begin()) return nullptr;
  const Residency* last_begun = *--after;
  return last_begun->last >= instruction ? last_begun : nullptr;
}

}  // namespace

Places::Places(const net::Graph& graph, const Plan& plan)
    : values_(graph.values().size()), workspaces_(graph.nodes().size()) {
  for (const Residency& r : plan.residencies)
    (r.value == net::none ? workspaces_[static_cast<std::size_t>(r.node)]
                          : values_[static_cast<std::size_t>(r.value)])
        .push_back(&r);
  for (auto* lists : {&values_, &workspaces_})
    for (auto& list : *lists)
      std::stable_sort(list.begin(), list.end(),
                       [](const Residency* a, const Residency* b) { return a->first < b->first; });
}

const Residency* Places::of_value(net::ValueId value, std::int32_t instruction) const {
  return spanning(values_[static_cast<std::size_t>(value)], instruction);
}

const Residency* Places::of_workspace(net::NodeId node, std::int32_t instruction) const {
  return spanning(workspaces_[static_cast<std::size_t>(node)], instruction);
}

// An operation names the outputs that may overwrite an input; the rest follows from the values.
bool may_take_over(const net::Graph& graph, const net::Node& node, net::ValueId output, net::ValueId input) {
  const net::Value& from = graph.value(input);
  if (from.persistent() || from.role == net::Role::input) return false;
  if (from.bytes() < graph.value(output).bytes()) return false;
  // Element n of the output must overwrite element n of the input, so the types must agree.
  if (from.type != graph.value(output).type) return false;
  // An input read twice may be needed at two different times of the same kernel.
  if (std::count(node.inputs.begin(), node.inputs.end(), input) != 1) return false;
  return std::any_of(
      node.operation->in_place.begin(), node.operation->in_place.end(), [&](const std::pair<int, int>& pair) {
        const auto to = static_cast<std::size_t>(pair.first), over = static_cast<std::size_t>(pair.second);
        return to < node.outputs.size() && over < node.inputs.size() && node.outputs[to] == output &&
               node.inputs[over] == input;
      });
}

}  // namespace voxswap::swap
