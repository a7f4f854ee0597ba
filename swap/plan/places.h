// Where an instruction finds its operands: the residency of a value, or of a node's workspace, at that time.
#pragma once

#include <cstdint>
#include <vector>

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

}  // namespace voxswap::swap
