#include "data/volumes/picture.h"

#include <png.h>
#include <zlib.h>

#include <cassert>
#include <cstdint>
#include <limits>
#include <string>

#include "base/error.h"
#include "base/file.h"

namespace voxswap::data {

namespace {

// Encodes in memory, where writing cannot fail: libpng reports errors by longjmp.
std::string encode(std::int64_t width, std::int64_t height, png_uint_32 format, const void* pixels) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 3;  // bytes per row in libpng
  png_image picture{};
  picture.version = PNG_IMAGE_VERSION;
  picture.format = format;
  picture.width = static_cast<png_uint_32>(width);
  picture.height = static_cast<png_uint_32>(height);
  png_alloc_size_t size = 0;
  std::string bytes;
  bool made = width <= most && height <= most;
  if (made) {
    size = PNG_IMAGE_PNG_SIZE_MAX(picture);
    bytes.resize(size);
    made = png_image_write_to_memory(&picture, bytes.data(), &size, 0, pixels, 0, nullptr) != 0;
  }
  if (!made)
    fail(Exit::failed, "a picture of {}x{} pixels cannot be created: {}", width, height,
         picture.message[0] != '\0' ? picture.message : "it is too large");
  bytes.resize(size);
  return bytes;
}

template <class T>
void check_size(std::int64_t width, std::int64_t height, std::int64_t channels, std::span<const T> pixels) {
  assert(width > 0 && height > 0 && std::ssize(pixels) == width * height * channels);
  static_cast<void>(width), static_cast<void>(height), static_cast<void>(channels), static_cast<void>(pixels);
}

}  // namespace

std::string png_bytes(std::int64_t width, std::int64_t height, std::span<const std::uint8_t> rgb) {
  check_size(width, height, 3, rgb);
  return encode(width, height, PNG_FORMAT_RGB, rgb.data());
}

void write_png(const fs::path& path, std::int64_t width, std::int64_t height,
               std::span<const std::uint8_t> rgb) {
  write_file(path, png_bytes(width, height, rgb));
}

void write_grey_png(const fs::path& path, std::int64_t width, std::int64_t height,
                    std::span<const std::uint8_t> grey) {
  check_size(width, height, 1, grey);
  write_file(path, encode(width, height, PNG_FORMAT_GRAY, grey.data()));
}

void write_grey_png(const fs::path& path, std::int64_t width, std::int64_t height,
                    std::span<const std::uint16_t> grey) {
  check_size(width, height, 1, grey);
  write_file(path, encode(width, height, PNG_FORMAT_LINEAR_Y, grey.data()));
}

namespace {

constexpr std::size_t signature = 8, header_end = signature + 12 + 13;  // end of the first chunk, IHDR

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

// An iTXt chunk up to its text: uncompressed, without language or translated keyword.
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
