// Checks whether the images of a case share one grid, and says what to do if not: images of one patient can
// be resampled, an image of another patient cannot.
#pragma once

#include "data/layouts/incomplete.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// Empty if `grid`, of the image at `path`, equals `reference`.
FileTrouble grid_trouble(const fs::path& path, const Geometry& grid, const fs::path& reference_path,
                         const Geometry& reference);

}  // namespace voxswap::data
