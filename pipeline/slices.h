// Pictures of cases for the report: the slices with most truth (or prediction), truth and prediction as
// outlines.
#pragma once

#include <filesystem>

#include "data/dataset.h"

namespace voxswap {

// Writes a PNG: three orthogonal slices of what differs from the image's background, each where most is
// labelled; the truth's outlines in one colour per label on the left copy, the prediction's on the right one.
// Below them the names of `names` in their colours. Grids must agree. `truth` may be empty (no left copy).
void write_slices(const std::filesystem::path& png, const Image& image, const LabelMap& truth,
                  const LabelMap& prediction, const Labels& names);

}  // namespace voxswap
