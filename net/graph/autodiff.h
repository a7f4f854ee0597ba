// Reverse-mode differentiation: appends the backward pass to a forward graph. It saves only what a gradient
// reads.
#pragma once

#include <utility>
#include <vector>

#include "net/graph/graph.h"

namespace voxswap::net {

// Appends nodes (phase backward) that compute the gradients of sum_i <seed_i, output_i> with respect to
// `wrt`. `seeds`: pairs of an output and the value that holds its gradient. Where a value is read more than
// once its gradients are added as they come, into the first summand. Returns a value per entry of wrt, none
// where nothing flows.
std::vector<ValueId> differentiate(Graph& graph, const std::vector<std::pair<ValueId, ValueId>>& seeds,
                                   const std::vector<ValueId>& wrt);

}  // namespace voxswap::net
