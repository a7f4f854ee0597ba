// The rules for a case's files; each check returns a sentence on failure. Reading stops at the first,
// `voxswap check` collects all.
#pragma once

#include <string>

#include "base/filesystem.h"
#include "data/layouts/dataset.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// Each gives the whole message, naming the file; empty when all is well.
std::string nonfinite_voxels(const fs::path& path, const Image& image);
std::string different_grids(const fs::path& path, const Geometry& grid, const fs::path& reference_path,
                            const Geometry& reference);
// A 4D file with more volumes than the data set has channels holds something that nobody named; pictures are
// all in grey or all in colours.
std::string other_volumes(const fs::path& path, std::int64_t volumes, const Dataset& dataset);
std::string unknown_labels(const fs::path& path, const LabelMap& truth, const Dataset& dataset);
// Labels of which the case's truth is not to tell (CaseFiles::told).
std::string untold_labels(const CaseFiles& files, const LabelMap& truth, const Dataset& dataset);

}  // namespace voxswap::data
