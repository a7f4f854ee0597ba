// PNG files: colour for reports, greyscale for masks and phantoms.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/file.h"

namespace voxswap::data {

// The bytes of an RGB PNG. `rgb` holds height rows of width pixels of three bytes, from the top left.
std::string png_bytes(std::int64_t width, std::int64_t height, std::span<const std::uint8_t> rgb);
// Writes to a temporary file and renames it. Throws like write_file().
void write_png(const fs::path& path, std::int64_t width, std::int64_t height,
               std::span<const std::uint8_t> rgb);
// Greyscale, one number per pixel; numbers are stored unchanged.
void write_grey_png(const fs::path& path, std::int64_t width, std::int64_t height,
                    std::span<const std::uint8_t> grey);
void write_grey_png(const fs::path& path, std::int64_t width, std::int64_t height,
                    std::span<const std::uint16_t> grey);

// Text in PNG files, which image viewers and `exiftool` show. Returns the bytes of the file with one more
// text (iTXt, PNG specification 11.3.3.4). REQUIRES: a complete PNG; `key` is a keyword of that
// specification, such as "Description"; `text` is UTF-8.
std::string with_png_text(std::string png, std::string_view key, std::string_view text);

// The text under this key; empty if there is none or the bytes are not a PNG.
std::string png_text(std::string_view png, std::string_view key);

}  // namespace voxswap::data
