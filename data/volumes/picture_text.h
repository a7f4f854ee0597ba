// Text inside PNG files, which image viewers and `exiftool` show.
#pragma once

#include <string>
#include <string_view>

namespace voxswap::data {

// The bytes of the file with one more text (iTXt, PNG specification 11.3.3.4). REQUIRES: a whole PNG; `key`
// is a keyword of that specification, such as "Description"; `text` is UTF-8.
std::string with_png_text(std::string png, std::string_view key, std::string_view text);

// The text under this key; empty where the bytes have none, or are no PNG.
std::string png_text(std::string_view png, std::string_view key);

}  // namespace voxswap::data
