#include "data/raw_image.h"

#include <zlib.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "data/formats.h"
#include "data/voxel_bytes.h"

namespace voxswap {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_header_bytes = 1 << 20;

RawImage open_header(const fs::path& path) {
  const std::string begin = read_file(path, most_header_bytes);
  return has_extension(path, {".nrrd", ".nhdr"}) ? parse_nrrd(path, begin) : parse_meta_image(path, begin);
}

// Up to `size` bytes of a zlib or gzip stream; its checksum is checked when it ends within them.
std::string unpacked(const fs::path& path, std::string_view packed, std::size_t size) {
  z_stream stream{};
  constexpr int any_header = 15 + 32;  // zlib's or gzip's
  if (inflateInit2(&stream, any_header) != Z_OK) throw std::bad_alloc();
  std::string bytes;
  int status = Z_OK;
  while (status == Z_OK && bytes.size() < size) {
    const std::size_t before = bytes.size(), piece = std::min<std::size_t>(size - before, 1 << 22);
    bytes.resize(before + piece);
    const std::size_t taken = std::min<std::size_t>(packed.size(), 1U << 30);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<uInt>(taken);
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data() + before);
    stream.avail_out = static_cast<uInt>(piece);
    status = inflate(&stream, Z_NO_FLUSH);
    packed.remove_prefix(taken - stream.avail_in);
    bytes.resize(before + piece - stream.avail_out);
  }
  inflateEnd(&stream);
  if (status == Z_OK || status == Z_STREAM_END) return bytes;
  fail(Exit::bad_data,
       "{}: is {}: its packed voxels end after {} unpacked bytes. Fetch or copy the file again",
       path.string(), status == Z_BUF_ERROR ? "truncated" : "damaged", bytes.size());
}

std::string read_voxels(const fs::path& path, const RawImage& raw) {
  const std::size_t promised = static_cast<std::size_t>(raw.image.geometry.count()) *
                               static_cast<std::size_t>(raw.image.volumes) *
                               bytes_of_element(raw.image.element);
  std::error_code missing;
  const auto there = static_cast<std::size_t>(fs::file_size(raw.file, missing));
  if (missing)
    fail(Exit::bad_data, "{}: its voxels should lie in {}: no such file", path.string(), raw.file.string());
  const auto truncated = [&](std::size_t found) {
    fail(Exit::bad_data,
         "{}: is truncated: its header promises {} bytes of voxels, {} are there. Fetch or copy the file "
         "again",
         path.string(), promised, found);
  };
  std::string bytes = read_file(raw.file);
  if (raw.from_end && there >= promised) return bytes.substr(there - promised);
  if (raw.offset > there) truncated(0);
  bytes.erase(0, raw.offset);
  // One byte more than promised, so that the stream's end, and its checksum with it, is reached.
  if (raw.packed) bytes = unpacked(path, bytes, promised + 1);
  if (bytes.size() < promised) truncated(bytes.size());
  return bytes;
}

}  // namespace

ImageHeader raw_header(const fs::path& path) {
  return open_header(path).image;
}

std::vector<Image> raw_volumes(const fs::path& path, std::int64_t first, std::int64_t count) {
  const RawImage raw = open_header(path);
  const std::string bytes = read_voxels(path, raw);
  const auto voxels = static_cast<std::size_t>(raw.image.geometry.count());
  const auto components = static_cast<std::size_t>(raw.components);
  std::vector<Image> images;
  for (auto volume = static_cast<std::size_t>(first); volume < static_cast<std::size_t>(first + count);
       ++volume) {
    // Components of a voxel lie side by side, further axes outermost.
    const std::size_t begin = volume / components * voxels * components + volume % components;
    StoredVoxels stored;
    stored.bytes = std::string_view(bytes).substr(begin * bytes_of_element(raw.image.element));
    stored.element = raw.image.element;
    stored.stride = components;
    stored.swapped = raw.swapped;
    images.push_back({raw.image.geometry, decode(stored, voxels)});
  }
  return images;
}

}  // namespace voxswap
