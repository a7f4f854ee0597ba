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
// Only voxswap-decode calls it (decoder_process.h).
RasterImage open_raster(const fs::path& path, RasterMeaning meaning);

// One plane of integers, as an 8-bit PNG, or a 16-bit one if necessary.
void write_raster_labels(const fs::path& path, const LabelMap& labels);
// A greyscale or RGB plane as an 8-bit PNG: 0 stays 0, `white` becomes 255. REQUIRES: one or three channels
// on one grid of one plane.
void write_raster_image(const fs::path& path, const std::vector<Image>& channels,
                        const std::vector<float>& white);

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
