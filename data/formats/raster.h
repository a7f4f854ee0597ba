// 2D images: PNG, TIFF and JPEG, in greyscale or colour.
//
// No such file says where it lies in a patient: pixels are squares of 1 mm, the first one at the origin.
// Colours are read like the volumes of a 4D file, red, green, blue; how opaque a pixel is, is not read.
#pragma once

#include <cstdint>
#include <vector>

#include "base/filesystem.h"
#include "data/formats/image_header.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// REQUIRES of all of them: is_raster(path) (formats.h). They throw Exit::bad_data naming the file.
ImageHeader raster_header(const fs::path& path);
std::vector<Image> raster_volumes(const fs::path& path, std::int64_t first, std::int64_t count);
// Of a picture with a palette, the numbers that pixels have there rather than their colours.
Image raster_labels(const fs::path& path);

// One plane of whole numbers, as a PNG of 8 bits, or of 16 where they need them.
void write_raster_labels(const fs::path& path, const LabelMap& labels);
// A plane in grey, or red, green and blue, as a PNG of 8 bits: 0 stays 0, `white` becomes 255.
// REQUIRES: one or three channels on one grid of one plane.
void write_raster_image(const fs::path& path, const std::vector<Image>& channels,
                        const std::vector<float>& white);

}  // namespace voxswap::data
