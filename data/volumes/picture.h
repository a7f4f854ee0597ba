// PNG files: in colour for reports, in greyscale for masks and phantoms.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/filesystem.h"

namespace voxswap::data {

// The bytes of such a file. `rgb` holds height rows of width pixels of three bytes, from the top left.
std::string png_bytes(std::int64_t width, std::int64_t height, std::span<const std::uint8_t> rgb);
// Written whole and renamed into place. Throws as write_file() does.
void write_png(const fs::path& path, std::int64_t width, std::int64_t height,
               std::span<const std::uint8_t> rgb);
// The same in grey, of one number per pixel; numbers are kept as they are.
void write_grey_png(const fs::path& path, std::int64_t width, std::int64_t height,
                    std::span<const std::uint8_t> grey);
void write_grey_png(const fs::path& path, std::int64_t width, std::int64_t height,
                    std::span<const std::uint16_t> grey);

}  // namespace voxswap::data
