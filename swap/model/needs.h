// What the device must hold at each node of a step, whatever the plan: what both bounds (bound.h,
// relaxation.h) count.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "net/graph/graph.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

// What the device must hold while a node runs, besides persistent values.
struct WorkingSet {
  std::int64_t bytes = 0;               // outputs share the places of inputs that die
  std::int64_t least_bytes = 0;         // outputs share places with any input over which they may be written
  std::vector<net::ValueId> inputs;     // each once
  std::vector<net::ValueId> may_leave;  // of those, live on and may be written over
};

struct Needs {
  std::int64_t persistent = 0;
  // Of every value that is no persistent one: producing node (-1: there before the step) and last reader (-1:
  // none; beyond the last node: kept).
  std::vector<net::NodeId> first, last;
  std::vector<WorkingSet> working;  // per node

  bool across(net::ValueId value, net::NodeId node) const {
    return first[static_cast<std::size_t>(value)] < node && node < last[static_cast<std::size_t>(value)];
  }
};

Needs find_needs(const net::Graph& graph, const std::vector<std::int64_t>& workspaces,
                 const std::vector<net::ValueId>& kept);

// Bytes alive across every node that are not part of its working set, of the values that count (none given:
// all); one more entry, 0, at the end.
std::vector<std::int64_t> bytes_across(const net::Graph& graph, const Needs& needs,
                                       const std::function<bool(net::ValueId)>& counts = {});

// Bytes of each memory that a plan may use.
struct Budgets {
  std::int64_t device = unlimited;
  std::int64_t host = 0;  // 0: none
  std::int64_t disk = 0;  // 0: none
};

}  // namespace voxswap::swap
