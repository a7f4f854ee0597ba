// The rules for the contents of a case's files. Reading stops at the first violation (read_case.h);
// `voxswap check` collects all (check_case.h). Whether the files exist is checked in incomplete.h.
#pragma once

#include <cstdint>
#include <string>

#include "base/file.h"
#include "data/layouts/dataset.h"
#include "data/layouts/incomplete.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// In the order in which they are applied. Each returns the complete message, naming the file; empty if the
// file is valid.

// A 4D file must not have more volumes than the data set has channels. 2D images must be all greyscale or all
// in colour.
std::string other_volumes(const fs::path& path, std::int64_t volumes, const Dataset& dataset);

std::string nonfinite_voxels(const fs::path& path, const Image& image);

// The images of a case must share one grid. Images of one patient can be resampled, an image of another
// patient cannot; the fix says which it is. Empty if `grid`, of the image at `path`, equals `reference`.
FileTrouble grid_trouble(const fs::path& path, const Geometry& grid, const fs::path& reference_path,
                         const Geometry& reference);

// The series of a case should be of one patient. Differing identifiers may be due to anonymisation, so that
// this is a warning. Empty if they agree; series without an identifier agree with all.
FileTrouble other_patient(const CaseFiles& files);

std::string unknown_labels(const fs::path& path, const LabelMap& truth, const Dataset& dataset);
// Labels in a ground truth that are not among its annotated ones (CaseFiles::annotated).
std::string unannotated_labels(const CaseFiles& files, const LabelMap& truth, const Dataset& dataset);

}  // namespace voxswap::data
