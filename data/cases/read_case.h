// Reads the files of a case into a volume that is ready for preparation.
#pragma once

#include "data/layouts/dataset.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// Reads one case: every channel as float on one common grid in the canonical frame, the truth rounded to
// whole labels. Throws Exit::bad_data naming the file for: unreadable or truncated, channels on different
// grids (unless dataset.align: then they are resampled onto the first), NaN or infinite voxels, a truth value
// that is no whole number or is not in dataset.labels (0 is background).
Volume read_case(const Dataset& dataset, const CaseFiles& files);

// The grid of every case, from its header, in the canonical frame.
std::vector<Geometry> grids_of(const Dataset& dataset);

}  // namespace voxswap::data
