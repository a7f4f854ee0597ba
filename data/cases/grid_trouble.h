// Whether the images of a case are on one grid, and what to do where they are not: scans of one patient can
// be resampled, a scan of another patient cannot.
#pragma once

#include "data/layouts/incomplete.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// Empty where `grid`, of the image at `path`, is the same as `reference`.
FileTrouble grid_trouble(const fs::path& path, const Geometry& grid, const fs::path& reference_path,
                         const Geometry& reference);

}  // namespace voxswap::data
