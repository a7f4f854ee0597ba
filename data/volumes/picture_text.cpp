#include "data/volumes/picture_text.h"

#include <zlib.h>

#include <cstdint>

namespace voxswap::data {

namespace {

constexpr std::size_t signature = 8, header_end = signature + 12 + 13;  // of the first chunk, IHDR

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 255);
  return bytes;
}

std::size_t length_at(std::string_view png, std::size_t at) {
  std::size_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(png[at + i]);
  return value;
}

// A keyword, uncompressed, in no language, without a translated keyword.
std::string text_start(std::string_view key) {
  return "iTXt" + std::string(key) + std::string(5, '\0');
}

}  // namespace

std::string with_png_text(std::string png, std::string_view key, std::string_view text) {
  const std::string chunk = text_start(key) + std::string(text);
  const auto checksum =
      static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(chunk.data()), chunk.size()));
  png.insert(header_end,
             big_endian(static_cast<std::uint32_t>(chunk.size() - 4)) + chunk + big_endian(checksum));
  return png;
}

std::string png_text(std::string_view png, std::string_view key) {
  const std::string start = text_start(key);
  for (std::size_t at = signature; at + 12 <= png.size();) {
    const std::size_t length = length_at(png, at);
    if (length > png.size() - at - 12) break;
    const std::string_view chunk = png.substr(at + 4, 4 + length);
    if (chunk.starts_with(start)) return std::string(chunk.substr(start.size()));
    at += 12 + length;
  }
  return {};
}

}  // namespace voxswap::data
