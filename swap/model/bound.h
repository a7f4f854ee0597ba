// The step time that no plan can beat.
//
// At every node k of the step, what is alive across it and is not part of its working set (inputs, outputs,
// workspace) has to fit beside the persistent values and the working set; the excess x_k has left before k
// and comes back after it, or part of it, r, is computed again after it. So
//   T >= max(F_k, (x_k - r - i_k) / rate_out) + t_k + max(B_k + cost(r), (x_k - r - o_k) / rate_in)
// with i_k and o_k the bytes alive across k of inputs, which lie outside already, and of what is kept, which
// need not come back, t_k the time of k, F_k and B_k the compute time before and after it, cost(r) the time
// to make r bytes of what is alive across k again, cheapest seconds per byte first, in fractions, as if their
// inputs cost nothing. With a disk tier, what exceeds the host budget also has to pass the disk. That is one
// bound for every k, the smallest over r: a relaxation (fractions, no latency, no interference, no packing),
// so no plan that runs the nodes in the graph's order is below it. Two others add up what all moments
// ask for (relaxation.h, volume_program.h). The bound is the largest of them all. Exchanges with other ranks
// run beside the nodes that follow them, one after the other: no step ends before the last of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "swap/model/costs.h"
#include "swap/model/needs.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

struct Bound {
  double seconds = 0;          // infinite where no plan is within the budgets
  double compute_seconds = 0;  // every node once: the step in unlimited memory
  // Of the bounds at one node, the largest: how much that is, where (none where computing alone takes as
  // long), what is too much there, and what of it is made again at the optimum.
  double moment_seconds = 0;
  net::NodeId node = net::none;
  double excess_bytes = 0, recomputed_bytes = 0;
};

Bound lower_bound(const net::Graph& graph, const std::vector<std::int64_t>& workspaces,
                  const std::vector<net::ValueId>& kept, const CostModel& costs, const Budgets& budgets);

// The least device budget that any plan needs: persistent values and the largest working set of one node.
struct Floor {
  std::int64_t bytes = 0;
  net::NodeId node = net::none;  // that needs it
};
Floor least_budget(const net::Graph& graph, const std::vector<std::int64_t>& workspaces,
                   const std::vector<net::ValueId>& kept);

}  // namespace voxswap::swap
