// The lower bound of the step time: no plan is faster.
//
// At every node k, the values that are live across k and not in its working set (inputs, outputs, workspace)
// must fit into the memory that persistent values and the working set leave. The excess x_k was swapped out
// before k and is swapped in after it, except for a part r that is recomputed after it. So
//   T >= max(F_k, (x_k - r - i_k) / rate_out) + t_k + max(B_k + cost(r), (x_k - r - o_k) / rate_in)
// where t_k is the time of k, F_k and B_k are the compute times before and after it, i_k counts the bytes
// live across k of inputs, which have a copy in host memory already, o_k those of kept values, which need not
// be swapped in, and cost(r) is the time to recompute r bytes, cheapest seconds per byte first, in fractions,
// with their inputs for free. With a disk tier, the bytes beyond the host budget also pass the disk. The
// minimum over r is a bound for every k. It is a relaxation (fractions; no latency, interference or packing),
// so no plan that runs the nodes in the graph's order is faster. Two linear programs add up the demands of
// all moments (relaxation.h, volume_program.h). The lower bound is the largest of all of these. Exchanges
// with other ranks run one at a time, concurrently with the nodes that follow: no step ends before the last
// of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "swap/model/costs.h"
#include "swap/model/needs.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

struct Bound {
  double seconds = 0;          // infinite if no plan is within the budgets
  double compute_seconds = 0;  // every node once: the step time in unlimited memory
  // The largest of the bounds at one node: its seconds, the node (none: the compute time is as long), the
  // excess there, and the part of it that is recomputed at the optimum.
  double moment_seconds = 0;
  net::NodeId node = net::none;
  double excess_bytes = 0, recomputed_bytes = 0;
};

Bound lower_bound(const net::Graph& graph, const std::vector<std::int64_t>& workspaces,
                  const std::vector<net::ValueId>& kept, const CostModel& costs, const Budgets& budgets);

// The smallest device budget of any plan: persistent values and the largest working set of a node.
struct Floor {
  std::int64_t bytes = 0;
  net::NodeId node = net::none;  // with that working set
};
Floor least_budget(const net::Graph& graph, const std::vector<std::int64_t>& workspaces,
                   const std::vector<net::ValueId>& kept);

}  // namespace voxswap::swap
