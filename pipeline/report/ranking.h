// Ranks groups of runs: which is best, by how much, and whether that is beyond chance.
#pragma once

#include <string>
#include <vector>

#include "metrics/bootstrap.h"
#include "metrics/paired_test.h"
#include "pipeline/report/run_groups.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

struct RankedGroup {
  std::size_t group = 0;  // of run_groups.h
  std::size_t cases = 0;  // with a number for every region, or the fewest of any
  double dice = 0;        // mean over the regions of the means over the cases
  // Against the best group: its Dice minus this one's, per case the mean over the regions. Nothing for the
  // best itself.
  std::vector<double> differences;
  double difference = 0;       // mean
  metrics::Interval interval;  // 95 %, bootstrap BCa
  double p = 0;                // Wilcoxon's signed-rank test
  double p_holm = 0;           // corrected after Holm for the number of groups
};

struct Ranking {
  std::string grid;                  // on which Dice is compared: the first that runs were scored on
  std::vector<std::string> regions;  // that all groups have
  std::vector<RankedGroup> groups;   // the best first
};

// Groups without a score are not in it. Empty where no region is common to all.
Ranking rank(const std::vector<RunGroup>& groups, const std::vector<DiceRow>& rows);

// Whether a group is worse than the best: "yes", "not shown", "too few cases to tell". Beyond chance is a
// corrected p below 0.05 and an interval without 0.
std::string worse_than_best(const RankedGroup& group, std::size_t compared);

}  // namespace voxswap::pipeline
