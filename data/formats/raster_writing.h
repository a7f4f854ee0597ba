// Writing 2D images as PNG.
#pragma once

#include <vector>

#include "base/file.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// One plane of integers, as an 8-bit PNG, or a 16-bit one if necessary.
void write_raster_labels(const fs::path& path, const LabelMap& labels);
// A greyscale or RGB plane as an 8-bit PNG: 0 stays 0, `white` becomes 255. REQUIRES: one or three channels
// on one grid of one plane.
void write_raster_image(const fs::path& path, const std::vector<Image>& channels,
                        const std::vector<float>& white);

}  // namespace voxswap::data
