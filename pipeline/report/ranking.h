// Ranks groups of runs by their Dice on the cases that all of them scored.
#pragma once

#include <string>
#include <vector>

#include "pipeline/report/comparison.h"
#include "pipeline/report/run_groups.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

// The score of a case is its mean Dice over the regions. Differences, one per case, are the score of the best
// group minus the score of this group. The best group has none; without common cases no group has any. Family
// for Holm's correction: all groups.
struct RankedGroup : Paired {
  std::size_t group = 0;  // of run_groups.h
  std::size_t cases = 0;  // with a score
  double dice = 0;        // mean of the scores
};

struct Ranking {
  std::string grid;                  // of the Dice scores: the first grid of the runs
  std::vector<std::string> regions;  // common to all groups
  std::vector<RankedGroup> groups;   // best first
  std::size_t unshared_cases = 0;    // with scores in some groups only: not counted
  bool has_absent_regions = false;   // some regions count as below
};

// Order and differences are of the same cases and regions: those that all groups scored. Where the truth has
// no such region and one group predicts it, its Dice is 0; another group that rightly predicts none and has
// no Dice (evaluate.empty: nnunet) counts with 1. If no case is common to all groups, each is ranked by its
// own cases.
//
// Omits groups without scores. Empty if no region is common to all groups. `ensembles`: number of groups at
// the end that are ensembles. They take twice as long to predict, so they rank higher only if their Dice is
// higher by at least 0.0005.
Ranking rank(const std::vector<RunGroup>& groups, const std::vector<DiceRow>& rows,
             std::size_t ensembles = 0);

}  // namespace voxswap::pipeline
