// Where an instruction finds its operands: the residency of a value, or of a node's workspace, at that time.
#pragma once

#include <cstdint>
#include <vector>

#include "net/graph/graph.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

class Places {
 public:
  Places(const net::Graph& graph, const Plan& plan);

  // Null where there is none.
  const Residency* of_value(net::ValueId value, std::int32_t instruction) const;
  const Residency* of_workspace(net::NodeId node, std::int32_t instruction) const;

  // All of a value, in order of time.
  const std::vector<const Residency*>& all(net::ValueId value) const {
    return values_[static_cast<std::size_t>(value)];
  }

 private:
  std::vector<std::vector<const Residency*>> values_, workspaces_;  // by id, in order of time
};

// Which values may be written over which: an output that takes over its input's memory needs none of its own.

// Whether `node` may write `output` over `input`, provided that nobody reads `input` later: the operation
// allows it, the node reads the input once, and the input is large enough, of the same element type, and no
// value that belongs to the outside (persistent values and inputs).
bool may_take_over(const net::Graph& graph, const net::Node& node, net::ValueId output, net::ValueId input);

}  // namespace voxswap::swap
