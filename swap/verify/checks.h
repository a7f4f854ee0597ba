// The list of violations that verification collects, and its two parts.
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
// Walks the list once with a shadow of each memory (shadow.h), which knows for every byte its content, its
// writer and its readers since. The list is one possible order of execution. All other orders give the same
// result if any two accesses to a byte, at least one of them a write, are ordered by streams and waits
// (stream_order.h); the shadows check this at every access.

// Checks that every read finds the right content (persistent values in the version of the graph's order),
// that every instruction is ordered after those it depends on, and that kept and persistent values are
// resident at the end. REQUIRES: instructions and residencies in range.
void check_memory(const net::Graph& graph, const std::vector<std::int64_t>& workspaces, const Plan& plan,
                  Violations& violations);

// The part of verify() that checks residencies.
// Checks that each belongs to an existing value or node, is within the list and the arena, aligned and large
// enough. Returns false otherwise; later checks index by these numbers.
bool check_place_ranges(const net::Graph& graph, const std::vector<std::int64_t>& workspaces,
                        const Plan& plan, Violations& violations);

// Checks that a value has one residency per instruction; that no two overlap at the same time, except an
// output over an input that ends there, if the operation allows it; that persistent values are at the bottom
// throughout; and that the sums are right. REQUIRES: ranges as above.
void check_places(const net::Graph& graph, const Plan& plan, Violations& violations);

}  // namespace voxswap::swap
