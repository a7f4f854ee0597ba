// A lower bound of the step time that adds up the demands of all moments. The bound at one node (bound.cpp)
// considers one moment only. Between two passes over a volume that does not fit, as in a norm, slabs are
// swapped or recomputed repeatedly, which this bound counts.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "swap/model/costs.h"
#include "swap/model/needs.h"

namespace voxswap::swap {

// `cut`: the node before and after which copies are distinguished, best the one with the largest bound at one
// node; none: no such node. `node_seconds`: on the compute lane, so 0 for exchanges. REQUIRES: no bound at
// one node is infinite.
double relaxed_seconds(const net::Graph& graph, const Needs& needs, const std::vector<double>& node_seconds,
                       const CostModel& costs, const Budgets& budgets, net::NodeId cut);

// The step as the bound sees it: lifetimes of values, cut into parts at borders.

// An instant that divides the step: the start or the end of the first run of a node, when its working set is
// resident.
struct Border {
  std::size_t at = 0;  // number of nodes whose first run is over
  net::NodeId node = net::none;
};

// The part of a gap (between two nodes that use a value) between two borders.
struct Part {
  std::size_t segment = 0;          // number of borders before it
  std::size_t from = 0, to = 0;     // nodes during which the value takes memory if it stays resident
  std::int32_t border = net::none;  // at its end; none: a node uses the value there
  bool counts_there = false;        // at the border: not in the working set, or may be overwritten
  bool ends_step = false;           // the end of a kept value, which no node uses
};

// A value from its first use to its last.
struct ValueLifetime {
  double bytes = 0;
  bool read = false, given = false;  // an input, with a copy in host memory from the start; kept
  double recompute_per_byte = std::numeric_limits<double>::infinity();  // seconds; infinite: not recomputable
  std::size_t from = 0, to = 0;                                         // its parts, [from, to)
};

struct Pass {
  std::vector<Border> borders;
  std::vector<double> compute;       // seconds per segment between borders, every node once
  std::vector<std::size_t> moments;  // nodes at which memory is counted in addition to borders, ascending
  std::vector<ValueLifetime> lifetimes;
  std::vector<Part> parts;  // of all lifetimes
};

// Borders are around `cut` (none: without) and at equal parts of the compute time. Moments are the nodes
// where most bytes would be resident without evictions, if that is more than `room`.
Pass find_pass(const net::Graph& graph, const Needs& needs, const std::vector<double>& node_seconds,
               double room, net::NodeId cut);

}  // namespace voxswap::swap
