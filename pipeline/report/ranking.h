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
// for Holm's correction: all pairs of groups, since the best group was selected on these cases.
struct RankedGroup : Paired {
  std::size_t group = 0;  // of run_groups.h
  std::size_t cases = 0;  // with a score
  double dice = 0;        // mean of the scores
};

struct Ranking {
  std::string grid;                  // of the Dice scores: native, if there are such scores
  std::vector<std::string> regions;  // common to all groups
  std::vector<RankedGroup> groups;   // best first
  std::size_t unshared_cases = 0;    // with scores in some groups only: not counted
  std::size_t tests = 0;             // in the family
  bool has_absent_regions = false;   // some regions count as below
  bool has_other_truths = false;     // resolutions with scores on their training grids only: not ranked
};

// Order and differences are of the same cases and regions: those that all groups scored. Where the truth has
// no such region and a repeat of a group predicts it, its Dice is 0; each other repeat, which rightly
// predicts none and has no Dice (evaluate.empty: nnunet), counts with 1. If no case is common to all groups,
// each is ranked by its own cases.
//
// Omits groups without scores. Empty if no region is common to all groups. `ensembles`: number of groups at
// the end that are ensembles. They take twice as long to predict, so they rank higher only if their Dice is
// higher by at least 0.0005.
Ranking rank(const std::vector<RunGroup>& groups, const std::vector<DiceRow>& rows,
             std::size_t ensembles = 0);

}  // namespace voxswap::pipeline
