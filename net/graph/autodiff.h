// Reverse-mode differentiation: appends the backward pass to a forward graph. The backward pass keeps only
// values that a gradient reads.
#pragma once

#include <utility>
#include <vector>

#include "net/graph/graph.h"

namespace voxswap::net {

// Appends nodes (phase backward) that compute the gradients of sum_i <seed_i, output_i> with respect to
// `wrt`. `seeds`: pairs of an output and the value that holds its gradient. Gradients of a value with several
// readers are summed in order, into the first summand. Returns one value per entry of `wrt`, `none` where no
// gradient flows.
std::vector<ValueId> differentiate(Graph& graph, const std::vector<std::pair<ValueId, ValueId>>& seeds,
                                   const std::vector<ValueId>& wrt);

}  // namespace voxswap::net
