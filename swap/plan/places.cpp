#include "swap/plan/places.h"

#include <algorithm>

namespace voxswap::swap {
namespace {

// Of residencies in order of time, the one that spans the instruction.
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

}  // namespace voxswap::swap
