// Colour pictures as PNG files: for reports, never for measurements.
#pragma once

#include <cstdint>
#include <span>

#include "base/filesystem.h"

namespace voxswap::data {

// `rgb` holds height rows of width pixels of three bytes, from the top left. Written whole and renamed into
// place. Throws as write_file() does.
void write_png(const fs::path& path, std::int64_t width, std::int64_t height,
               std::span<const std::uint8_t> rgb);

}  // namespace voxswap::data
