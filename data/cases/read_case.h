// Reads the files of a case into a volume ready for preparation.
#pragma once

#include "data/layouts/dataset.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// Reads one case: all channels as float on a common grid in the canonical frame, the ground truth rounded to
// integers. Throws Exit::bad_data naming the file if it is unreadable or truncated, for channels on different
// grids (with dataset.align they are resampled onto the first one instead), NaN or infinite voxels, and
// labels that are not integers or not in dataset.labels (0 is background).
Volume read_case(const Dataset& dataset, const CaseFiles& files);

// The grid of every case in the canonical frame, from its header.
std::vector<Geometry> grids_of(const Dataset& dataset);

}  // namespace voxswap::data
