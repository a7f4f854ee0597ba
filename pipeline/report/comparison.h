// Compares groups of runs case by case: paired differences with intervals and tests.
#pragma once

#include <string>
#include <vector>

#include "metrics/bootstrap.h"
#include "metrics/paired_test.h"
#include "pipeline/report/run_groups.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

struct ComparisonRow {       // comparison.csv; differences are b - a
  std::string compared;      // the keys that tell a from b: "preprocess.resolution"
  std::string also_differs;  // other keys that differ between them, and so may be the reason
  std::string resolution_a, setting_a, resolution_b, setting_b;
  std::string evaluated_at, region, metric;
  std::size_t unpaired = 0;         // cases that only one of them has a number for
  std::vector<double> differences;  // a mean over repeats per case; not a column
  double mean_a = 0, mean_b = 0;    // over the pairs
  double difference = 0;            // mean
  metrics::Interval interval;       // 95 %, bootstrap BCa
  metrics::SignedRankTest test;
  double p_holm = 0;  // corrected for the regions of one comparison, grid and metric
};

// Every pair of groups that one key tells apart (the resolution is one), and where there are at most four
// groups every pair; each grid, region and metric of which both have a case. The coarser one, or the one that
// was given first, is a.
std::vector<ComparisonRow> compare(const std::vector<RunGroup>& groups, const std::vector<DiceRow>& rows);

const std::vector<CsvColumn>& comparison_columns();
Csv comparison_csv(const std::vector<ComparisonRow>& rows);

}  // namespace voxswap::pipeline
