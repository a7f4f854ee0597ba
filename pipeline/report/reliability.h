// reliability.csv: the bins of a reliability diagram, over all validation cases of a repeat, and the diagram.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "metrics/calibration.h"
#include "pipeline/report/gnuplot.h"
#include "pipeline/report/run_groups.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

struct ReliabilityRow : RepeatOfRun {
  std::string output;
  std::int64_t bin = 1, voxels = 0, belonging = 0;
  double probability = 0;  // mean over the voxels; NaN without voxels
};

Columns<ReliabilityRow> columns_of(const ReliabilityRow*);

// One row per bin, in the other columns as `like`.
std::vector<ReliabilityRow> reliability_rows(const ReliabilityRow& like, const metrics::Calibration& of);

// Sums rows of equal run, repeat, resolution, output and bin, such as those of cases; in order of appearance.
std::vector<ReliabilityRow> summed(const std::vector<ReliabilityRow>& rows);

// Observed frequency against predicted probability: a panel per output, a line per group of runs.
Picture reliability_plot(const std::vector<ReliabilityRow>& rows, const std::vector<RunGroup>& groups,
                         int width = 0);

}  // namespace voxswap::pipeline
