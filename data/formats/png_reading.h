// PNG files, decoded by libpng: ITK's reader ends the program on a damaged file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/filesystem.h"

namespace voxswap::data {

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
