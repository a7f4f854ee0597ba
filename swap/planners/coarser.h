// A step with many slabs is searched with fewer slabs first: each choice is evaluated faster, and most
// choices concern whole volumes. The result starts the search with all slabs.
#pragma once

#include "swap/planners/decisions.h"

namespace voxswap::swap {

// The request for `finer.coarser`. Its nodes take together what the nodes of the same operation take in
// `finer`, and each needs as much workspace as the one of those that needs most.
struct CoarserStep {
  explicit CoarserStep(const PlanRequest& finer);  // REQUIRES: finer.coarser, finer.costs
  CoarserStep(const CoarserStep&) = delete;
  CoarserStep& operator=(const CoarserStep&) = delete;

  CostModel costs;
  PlanRequest request;
};

// For every piece what was chosen for the coarser one in which its middle lies.
Decisions for_finer(const GraphFacts& coarse, const Decisions& choice, const GraphFacts& fine);

}  // namespace voxswap::swap
