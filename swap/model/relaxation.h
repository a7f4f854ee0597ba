// A lower bound of the step time that adds up the demands of all moments. The sweep of bound.cpp looks at one
// moment alone; between two passes over a volume that does not fit, as in a norm, slabs are swapped or
// recomputed repeatedly, and that adds up.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "swap/model/costs.h"
#include "swap/model/needs.h"

namespace voxswap::swap {

// `cut`: the node around which the order of what leaves and what comes back is told apart, best the one with
// the largest bound of its own; none: no such node.
// `node_seconds`: on the compute lane, so 0 for exchanges.
// REQUIRES: no bound at one node is infinite.
double relaxed_seconds(const net::Graph& graph, const Needs& needs, const std::vector<double>& node_seconds,
                       const CostModel& costs, const Budgets& budgets, net::NodeId cut);

// The step as ways of values through time: of every byte, where it may be between two nodes that use it. What
// the bound in relaxation.h is about.

// An instant that divides the step: the begin or the end of the first run of a node, whose working set is on
// the device just then.
struct Border {
  std::size_t at = 0;  // nodes whose first run is over
  net::NodeId node = net::none;
};

// The part of a gap, between two nodes that use a value, that lies between two borders.
struct Part {
  std::size_t segment = 0;          // of the step: that many borders are before it
  std::size_t from = 0, to = 0;     // nodes beside whose working sets the value lies if it stays
  std::int32_t border = net::none;  // at the end; none: there is a node that uses the value
  bool counts_there = false;        // at the border: it is not in the working set, or may be written over
  bool ends_step = false;           // nobody uses what is kept after it
};

// A value on its way from its first use to its last, in parts one after the other.
struct Way {
  double bytes = 0;
  bool read = false, given = false;  // an input, which lies outside at first; kept
  double again_per_byte =
      std::numeric_limits<double>::infinity();  // seconds to make it again; or it cannot be
  std::size_t from = 0, to = 0;                 // its parts
};

struct Pass {
  std::vector<Border> borders;
  std::vector<double> compute;       // seconds per segment between them, every node once
  std::vector<std::size_t> moments;  // nodes at which memory is counted besides the borders, ascending
  std::vector<Way> ways;
  std::vector<Part> parts;  // of all ways
};

// With borders around `cut` (none: without), and where the step's compute time is divided into equal parts.
// Moments are where most would be on the device if nothing left, and more than `room` bytes.
Pass find_pass(const net::Graph& graph, const Needs& needs, const std::vector<double>& node_seconds,
               double room, net::NodeId cut);

}  // namespace voxswap::swap
