// Tells cases apart that have the same name in runs on different data.
#pragma once

#include <string>
#include <vector>

#include "pipeline/report/read_runs.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

// The Dice rows of all runs. If runs disagree on the ground truth of a case (voxels of a region on its own
// grid), a line break and this ground truth follow the case's name, so that only rows on the same data are
// paired, and a note says so. Cases without any region are then told apart by the data set.
//
// The hashes in identity.json would also tell apart the channels or copies of images that runs compare.
std::vector<DiceRow> rows_by_data(const std::vector<RunFolder>& runs, std::vector<std::string>& notes);

}  // namespace voxswap::pipeline
