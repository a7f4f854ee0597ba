// 2D images: PNG, TIFF and JPEG, in greyscale or colour.
//
// These files have no position in a patient: pixels are squares of 1 mm, the first one at the origin. Colours
// are read like the volumes of a 4D file: red, green, blue. The alpha channel is ignored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/file.h"
#include "data/formats/header_text.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// How palettes and greyscale with fewer than 8 bits are read: as colours and brightness, or as stored
// numbers.
enum class RasterMeaning { brightness, numbers };

struct RasterImage {
  ImageHeader header;
  std::function<std::vector<Image>(const VolumeRange& wanted)> volumes;  // decodes the pixels
};
// Throws Exit::bad_data naming the file, also for colours as numbers. REQUIRES: is_raster(path) (formats.h).
RasterImage open_raster(const fs::path& path, RasterMeaning meaning);

// PNG files, decoded by libpng: ITK's reader aborts on damaged files.
struct PngPixels {
  std::int64_t width = 0, height = 0;
  std::int64_t channels = 0;    // 1 greyscale, 3 colour; without alpha
  std::int64_t bytes = 1;       // bytes per channel: 1 or 2, in native order
  std::vector<std::byte> rows;  // from the top left; empty for PngPart::header
};

enum class PngPart { header, pixels };

// Throws Exit::bad_data naming the file if it is truncated, damaged or not a PNG.
PngPixels read_png(const fs::path& path, PngPart part, RasterMeaning meaning);

}  // namespace voxswap::data
