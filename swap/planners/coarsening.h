// A step with many slabs is searched with fewer slabs first: each set of decisions is scheduled faster, and
// most decisions concern whole volumes. The result starts the search with all slabs.
#pragma once

#include "swap/planners/decisions.h"
#include "swap/planners/planner.h"

namespace voxswap::swap {

// The problem for the graph finer.in_fewer_slabs. The nodes of an operation take as long together as in
// `finer`, and each needs the largest workspace of that operation's nodes there.
struct StepInFewerSlabs {
  explicit StepInFewerSlabs(const StepProblem& finer);  // REQUIRES: finer.in_fewer_slabs, finer.costs
  StepInFewerSlabs(const StepInFewerSlabs&) = delete;
  StepInFewerSlabs& operator=(const StepInFewerSlabs&) = delete;

  CostModel costs;
  StepProblem problem;
};

// Gives every slab of `fine` the decisions of the slab of `coarse` that contains its middle.
Decisions for_finer(const GraphFacts& coarse, const Decisions& decisions, const GraphFacts& fine);

}  // namespace voxswap::swap
