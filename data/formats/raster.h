// 2D images: PNG, TIFF and JPEG, in greyscale or colour.
//
// No such file says where it lies in a patient: pixels are squares of 1 mm, the first one at the origin.
// Colours are read like the volumes of a 4D file, red, green, blue; how opaque a pixel is, is not read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/file.h"
#include "data/formats/header_text.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// REQUIRES of all of them: is_raster(path) (formats.h). They throw Exit::bad_data naming the file. Only
// voxswap-decode calls them (decoder_process.h).
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

// PNG files, decoded by libpng: ITK's reader ends the program on a damaged file.
struct PngPixels {
  std::int64_t width = 0, height = 0;
  std::int64_t channels = 0;    // 1 grey, 3 colours; how opaque pixels are is left out
  std::int64_t bytes = 1;       // of a channel: 1 or 2, as this machine has them
  std::vector<std::byte> rows;  // from the top left; empty where only the header was asked for
};

enum class PngPart { header, pixels };
// As what a palette is read: its colours, or the numbers that pixels have in it. Greys of fewer than 8 bits
// are numbers as well, or brightness.
enum class PngMeaning { brightness, numbers };

// Throws Exit::bad_data naming the file for one that is no PNG, truncated or damaged.
PngPixels read_png(const fs::path& path, PngPart part, PngMeaning meaning);

}  // namespace voxswap::data
