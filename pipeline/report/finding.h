// The main result of a sweep in one sentence: what changing the compared key does to Dice and to the time of
// an epoch.
#pragma once

#include <string>
#include <vector>

#include "pipeline/report/comparison.h"
#include "pipeline/report/run_groups.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

// "Doubling the resolution from 64 to 128 voxels per side raises Dice of enhancing tumor most, by 0.041 (95 %
// interval 0.022 to 0.060, n = 36); an epoch takes 2.9 times as long." Names the grid unless it is native,
// and which other keys differ.
//
// Compares the coarsest and the finest resolution with equal settings, or two groups that differ in one key.
// With several regions, quotes the largest significant rise and the largest significant fall; if there is
// none, says so with the largest difference. `grid`: of the scores. Empty if no comparison is of that kind.
std::string finding(const std::vector<RunGroup>& groups, const std::vector<ComparisonRow>& comparisons,
                    const std::vector<TimingRow>& timing, const std::string& grid);

// "the cases' own grids", "the training grid" or "a grid of 96".
std::string grid_words(const std::string& evaluated_at);

}  // namespace voxswap::pipeline
