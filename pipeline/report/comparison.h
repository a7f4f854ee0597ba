// Compares groups of runs case by case: paired differences with intervals and tests.
#pragma once

#include <string>
#include <vector>

#include "metrics/paired_test.h"
#include "pipeline/report/run_groups.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

// The differences of cases that two groups have in common, a mean over repeats per case.
struct Paired {
  std::vector<double> differences;
  double difference = 0;       // mean
  metrics::Interval interval;  // 95 %, bootstrap BCa
  metrics::SignedRankTest test;
  double p_holm = 0;  // corrected for the number of tests in one family

  Paired() = default;
  explicit Paired(std::vector<double> of);
};

// Differences are b - a. A family: the regions of one comparison, grid and metric.
struct ComparisonRow : Paired {  // comparison.csv
  std::string compared;          // the keys that tell a from b: "preprocess.resolution"
  std::string also_differs;      // other keys that differ between them, and so may be the reason
  std::string resolution_a, setting_a, resolution_b, setting_b;
  std::string evaluated_at, region, metric;
  std::size_t unpaired = 0;       // cases that only one of them has a number for
  double mean_a = 0, mean_b = 0;  // over the pairs
};

// Every pair of groups that one key tells apart (the resolution is one), and where there are at most four
// groups every pair; each grid, region and metric of which both have a case. The coarser one, or the one that
// was given first, is a.
std::vector<ComparisonRow> compare(const std::vector<RunGroup>& groups, const std::vector<DiceRow>& rows);

template <>
const Columns<ComparisonRow>& columns<ComparisonRow>();

// Ranks groups of runs: which is best, by how much, and whether that is beyond chance.
// Differences are the Dice of the best group minus this one's, per case the mean over the regions; none for
// the best itself. A family: all groups.
struct RankedGroup : Paired {
  std::size_t group = 0;  // of run_groups.h
  std::size_t cases = 0;  // with a number for every region, or the fewest of any
  double dice = 0;        // mean over the regions of the means over the cases
};

struct Ranking {
  std::string grid;                  // on which Dice is compared: the first that runs were scored on
  std::vector<std::string> regions;  // that all groups have
  std::vector<RankedGroup> groups;   // the best first
};

// Groups without a score are not in it. Empty where no region is common to all. `ensembles`: so many groups
// at the end are ensembles of others, which are better only where their Dice is higher by 0.0005 or more:
// they take twice as long to predict.
Ranking rank(const std::vector<RunGroup>& groups, const std::vector<DiceRow>& rows,
             std::size_t ensembles = 0);

// Whether a group is worse than the best: "yes", "not shown", "too few cases to tell". Beyond chance is a
// corrected p below 0.05 and an interval without 0.
std::string worse_than_best(const RankedGroup& group, std::size_t compared);

// Box statistics of dice.csv.
// Per resolution (coarse to fine), grid, region and metric (dice, sensitivity, specificity; then others
// where any value is a number), over the per-case means of the repeats. Cases of different runs count by
// themselves.
std::vector<BoxRow> box_rows(const std::vector<DiceRow>& rows);
// The same per group, whose runs are repeats of each other. REQUIRES: every run and resolution is in a group.
std::vector<BoxRow> box_rows(const std::vector<DiceRow>& rows, const std::vector<RunGroup>& groups);

}  // namespace voxswap::pipeline
