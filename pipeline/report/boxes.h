// Box statistics of dice.csv.
#pragma once

#include <vector>

#include "pipeline/report/run_groups.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

// Per resolution (coarse to fine), grid, region and metric (dice, sensitivity, specificity; then others
// where any value is a number), over the per-case means of the repeats. Cases of different runs count by
// themselves.
std::vector<BoxRow> box_rows(const std::vector<DiceRow>& rows);
// The same per group, whose runs are repeats of each other. REQUIRES: every run and resolution is in a group.
std::vector<BoxRow> box_rows(const std::vector<DiceRow>& rows, const std::vector<RunGroup>& groups);

}  // namespace voxswap::pipeline
