// The memory that each node of a step needs on the device under any plan, on which the lower bounds (bound.h,
// relaxation.h) are based.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "net/graph/graph.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

// Memory of a running node, besides persistent values.
struct WorkingSet {
  std::int64_t bytes = 0;               // outputs overwrite inputs that die
  std::int64_t least_bytes = 0;         // outputs overwrite any input that they may
  std::vector<net::ValueId> inputs;     // each once
  std::vector<net::ValueId> may_leave;  // of those, used later, but may be overwritten
};

struct Needs {
  std::int64_t persistent = 0;
  // Per value that is not persistent: its producer (-1: an input of the step) and its last reader (-1: none;
  // number of nodes: kept).
  std::vector<net::NodeId> first, last;
  std::vector<WorkingSet> working;  // per node

  bool across(net::ValueId value, net::NodeId node) const {
    return first[static_cast<std::size_t>(value)] < node && node < last[static_cast<std::size_t>(value)];
  }
};

Needs find_needs(const net::Graph& graph, const std::vector<std::int64_t>& workspaces,
                 const std::vector<net::ValueId>& kept);

// Bytes live across every node and not in its working set, of the values for which `counts` is true (default:
// all). One more entry, 0, at the end.
std::vector<std::int64_t> bytes_across(const net::Graph& graph, const Needs& needs,
                                       const std::function<bool(net::ValueId)>& counts = {});

// Bytes of each memory available to a plan.
struct Budgets {
  std::int64_t device = unlimited;
  std::int64_t host = 0;  // 0: none
  std::int64_t disk = 0;  // 0: none
};

}  // namespace voxswap::swap
