// Finds the operands of an instruction: the residency of a value or workspace at that time.
#pragma once

#include <cstdint>
#include <vector>

#include "net/graph/graph.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

class Places {
 public:
  Places(const net::Graph& graph, const Plan& plan);

  // Null if there is none.
  const Residency* of_value(net::ValueId value, std::int32_t instruction) const;
  const Residency* of_workspace(net::NodeId node, std::int32_t instruction) const;

  // All of a value, in order of time.
  const std::vector<const Residency*>& all(net::ValueId value) const {
    return values_[static_cast<std::size_t>(value)];
  }

 private:
  std::vector<std::vector<const Residency*>> values_, workspaces_;  // by id, in order of time
};

// Whether `node` may overwrite `input` with `output` in place if nothing reads `input` later: the operation
// allows it, the node reads the input once, and the input is large enough, has the same element type and does
// not belong to the caller (persistent values and inputs of the step).
bool may_take_over(const net::Graph& graph, const net::Node& node, net::ValueId output, net::ValueId input);

}  // namespace voxswap::swap
