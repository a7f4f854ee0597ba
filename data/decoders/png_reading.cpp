// libpng reports errors by longjmp, so the functions that it leaves have no objects with destructors.
#include <png.h>

#include <algorithm>
#include <bit>
#include <csetjmp>
#include <cstring>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "data/decoders/raster.h"
#include "data/formats/itk_buffer.h"

namespace voxswap::data {

namespace {

// The input of libpng, and its last message.
struct Source {
  const char* bytes;
  std::size_t size, at;
  char said[200];
};

void read_bytes(png_structp png, png_bytep to, std::size_t count) {
  auto* const source = static_cast<Source*>(png_get_io_ptr(png));
  if (source->size - source->at < count) png_error(png, "the file ends before the image does");
  std::memcpy(to, source->bytes + source->at, count);
  source->at += count;
}

[[noreturn]] void jump_out(png_structp png, png_const_charp message) {
  auto* const source = static_cast<Source*>(png_get_error_ptr(png));
  std::strncpy(source->said, message, sizeof source->said - 1);
  png_longjmp(png, 1);
}

void ignore(png_structp, png_const_charp) {}

void ask_for(png_structp png, png_infop info, RasterMeaning meaning) {
  const int colours = png_get_color_type(png, info);
  png_set_strip_alpha(png);
  if (meaning == RasterMeaning::numbers) {
    png_set_packing(png);
  } else {
    if (colours == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
    if (colours == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(png);
  }
  if constexpr (std::endian::native == std::endian::little) png_set_swap(png);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
}

bool begin_png(png_structp png, png_infop info, RasterMeaning meaning) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_read_info(png, info);
  ask_for(png, info, meaning);
  return true;
}

bool decode_png(png_structp png, png_bytepp rows) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_read_image(png, rows);
  png_read_end(png, nullptr);
  return true;
}

struct PngReader {
  png_structp png = nullptr;
  png_infop info = nullptr;
  explicit PngReader(Source& source) {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &source, jump_out, ignore);
    if (png != nullptr) info = png_create_info_struct(png);
    if (png != nullptr) png_set_read_fn(png, &source, read_bytes);
  }
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;
};

// The declared size is accepted only if the file could contain it at the highest possible compression.
constexpr std::size_t most_packed = 1100;

}  // namespace

PngPixels read_png(const fs::path& path, PngPart part, RasterMeaning meaning) {
  const std::string bytes = read_file(path);
  Source source{bytes.data(), bytes.size(), 0, {}};
  PngReader reader(source);
  const auto refuse = [&](const char* why) {
    fail(Exit::bad_data,
         "{}: cannot be read as an image: {}. Check that it is complete and has the right format",
         path.string(), why);
  };
  if (reader.info == nullptr) no_memory_for(path);
  if (!begin_png(reader.png, reader.info, meaning)) refuse(source.said);
  PngPixels pixels;
  pixels.width = png_get_image_width(reader.png, reader.info);
  pixels.height = png_get_image_height(reader.png, reader.info);
  pixels.channels = png_get_channels(reader.png, reader.info);
  pixels.bytes = png_get_bit_depth(reader.png, reader.info) / 8;
  if (part == PngPart::header) return pixels;
  const std::size_t row = png_get_rowbytes(reader.png, reader.info);
  const auto height = static_cast<std::size_t>(pixels.height);
  if (row * height / most_packed / 8 > bytes.size())
    refuse("its header declares more pixels than it can hold");
  pixels.rows.resize(row * height);
  std::vector<png_bytep> rows(height);
  for (std::size_t y = 0; y < height; ++y)
    rows[y] = reinterpret_cast<png_bytep>(pixels.rows.data() + y * row);
  if (!decode_png(reader.png, rows.data())) refuse(source.said);
  return pixels;
}

}  // namespace voxswap::data
