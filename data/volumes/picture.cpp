#include "data/volumes/picture.h"

#include <png.h>

#include <cassert>
#include <limits>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "base/filesystem.h"

namespace voxswap::data {

// The picture is made in memory, where writing cannot fail: libpng is told of errors by jumping out of it.
void write_png(const fs::path& path, std::int64_t width, std::int64_t height,
               std::span<const std::uint8_t> rgb) {
  assert(width > 0 && height > 0 && rgb.size() == static_cast<std::size_t>(width * height * 3));
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 3;  // a row's bytes in libpng
  png_image picture{};
  picture.version = PNG_IMAGE_VERSION;
  picture.format = PNG_FORMAT_RGB;
  picture.width = static_cast<png_uint_32>(width);
  picture.height = static_cast<png_uint_32>(height);
  png_alloc_size_t size = 0;
  std::string bytes;
  bool made = width <= most && height <= most;
  if (made) {
    size = PNG_IMAGE_PNG_SIZE_MAX(picture);
    bytes.resize(size);
    made = png_image_write_to_memory(&picture, bytes.data(), &size, 0, rgb.data(), 0, nullptr) != 0;
  }
  if (!made)
    fail(Exit::failed, "{}: a picture of {}x{} pixels cannot be made: {}", path.string(), width, height,
         picture.message[0] != '\0' ? picture.message : "it is too large");
  write_file(path, std::string_view(bytes).substr(0, size));
}

}  // namespace voxswap::data
