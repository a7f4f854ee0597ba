// PNG files: in colour for reports, in greyscale for masks and phantoms.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/file.h"

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

// Text inside PNG files, which image viewers and `exiftool` show.
// The bytes of the file with one more text (iTXt, PNG specification 11.3.3.4). REQUIRES: a whole PNG; `key`
// is a keyword of that specification, such as "Description"; `text` is UTF-8.
std::string with_png_text(std::string png, std::string_view key, std::string_view text);

// The text under this key; empty where the bytes have none, or are no PNG.
std::string png_text(std::string_view png, std::string_view key);

}  // namespace voxswap::data
