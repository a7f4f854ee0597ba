// Compares groups of runs by paired differences of their cases, with intervals and tests.
#pragma once

#include <string>
#include <vector>

#include "metrics/paired_test.h"
#include "pipeline/report/run_groups.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

// Paired differences on the common cases of two groups, averaged over repeats per case.
struct Paired {
  std::vector<double> differences;
  double difference = 0;       // mean
  metrics::Interval interval;  // 95 %, bootstrap BCa
  metrics::SignedRankTest test;
  double p_holm = 0;  // corrected for the number of tests in one family

  Paired() = default;
  explicit Paired(std::vector<double> of);
};

// Differences are b - a. Family for Holm's correction: the regions of one comparison, grid and metric.
struct ComparisonRow : Paired {  // comparison.csv
  std::string compared;          // keys that define the comparison, such as "preprocess.resolution"
  std::string also_differs;      // other keys that differ and may explain the difference
  std::string resolution_a, setting_a, resolution_b, setting_b;
  std::string evaluated_at, region, metric;
  std::size_t unpaired = 0;       // cases with a value in only one of the groups
  double mean_a = 0, mean_b = 0;  // over the paired cases
};

// Compares groups that differ in one key (including the resolution) or, with at most four groups, all pairs,
// for each grid, region and metric with common cases. The group with the coarser resolution, or the first one
// given, is a. Resolutions are not compared on the grid `training`, where their ground truths differ.
std::vector<ComparisonRow> compare(const std::vector<RunGroup>& groups, const std::vector<DiceRow>& rows);

Columns<ComparisonRow> columns_of(const ComparisonRow*);

// Holm-corrects the p-values of one family.
void correct(const std::vector<Paired*>& family);

// Corrected p below 0.05 and an interval that excludes 0. Never with so few differences that an exact p,
// corrected for a family of this size, could not be below 0.05.
bool is_significant(const Paired& difference, std::size_t family);

// Box statistics of dice.csv per resolution (coarse to fine), grid, region and metric (dice, sensitivity,
// specificity, then others that have values), over per-case means of the repeats (NaN if one is): per group,
// whose runs count as repeats of each other, or, without groups, with cases of different runs counted
// separately. REQUIRES: every run and resolution is in a group, if there are any.
std::vector<BoxRow> box_rows(const std::vector<DiceRow>& rows, const std::vector<RunGroup>& groups = {});

}  // namespace voxswap::pipeline
