// The faults of a plan that verification has found, as text.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

class Violations {
 public:
  template <class... Arguments>
  void add(fmt::format_string<Arguments...> pattern, Arguments&&... arguments) {
    list_.push_back(fmt::format(pattern, std::forward<Arguments>(arguments)...));
  }
  bool empty() const { return list_.empty(); }
  std::vector<std::string> take() { return std::move(list_); }

 private:
  std::vector<std::string> list_;
};

// The part of verify() that follows every byte of the three memories.
//
// The list is walked once, with a shadow of each memory (shadow.h) that knows what every byte holds, who
// wrote it and who read it since. The list itself is one order that is possible; that all others give the
// same follows if any two accesses to the same byte, one of them a write, are ordered by streams and waits
// (stream_order.h), which the shadows check at every access.

// Every read finds what it is to read, persistent values in the version that the graph's order gives, and
// everything is ordered after what it needs. Values that are kept and persistent ones are there at the end.
// REQUIRES: instructions and residencies in range.
void check_memory(const net::Graph& graph, const std::vector<std::int64_t>& workspaces, const Plan& plan,
                  Violations& violations);

// The part of verify() that checks residencies alone.
// Of something that exists, within the list and inside the arena, aligned, large enough. False when not: the
// checks below and whoever follows the plan index by what is checked here.
bool check_place_ranges(const net::Graph& graph, const std::vector<std::int64_t>& workspaces,
                        const Plan& plan, Violations& violations);

// One per value and instruction, none over another that is live at the same time (but an output
// over an input that ends there, where the operation allows it), persistent values at the bottom and
// throughout, sums that are those of the places. REQUIRES: ranges as above.
void check_places(const net::Graph& graph, const Plan& plan, Violations& violations);

}  // namespace voxswap::swap
