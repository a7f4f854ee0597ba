// Pictures of cases for the report: the slice with most truth (or prediction), truth and prediction as
// outlines.
#pragma once

#include <filesystem>

#include "data/volume.h"

namespace voxswap {

// Writes a PNG montage: the three orthogonal slices through the foreground's centre; truth outlined in one
// colour per label on the left copy, prediction on the right copy. Grids must agree. `truth` may be empty (no
// left copy).
void write_slices(const std::filesystem::path& png, const Image& image, const LabelMap& truth,
                  const LabelMap& prediction);

}  // namespace voxswap
