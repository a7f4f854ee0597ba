#include "data/formats/raw_voxels.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "data/formats/formats.h"
#include "data/formats/itk_buffer.h"
#include "data/formats/placeholders.h"
#include "data/formats/voxel_bytes.h"

namespace voxswap::data {

namespace {

constexpr std::size_t most_header_bytes = 1 << 20;

RawImage open_header(const fs::path& path) {
  const std::string begin = read_file(path, most_header_bytes);
  return image_extension(path)->format == ImageFormat::nrrd ? parse_nrrd(path, begin)
                                                            : parse_meta_image(path, begin);
}

// The file with the voxels, read from a given byte.
class VoxelFile {
 public:
  VoxelFile(const fs::path& path, std::size_t begin) : path_(path), file_(open_file(path)) {
    if (::lseek(file_.number(), static_cast<off_t>(begin), SEEK_SET) < 0) failed(errno);
  }
  // Returns fewer bytes than requested only at the end.
  std::size_t read(char* bytes, std::size_t size) const {
    const ssize_t got = read_up_to(file_.number(), bytes, size);
    if (got < 0) failed(errno);
    return static_cast<std::size_t>(got);
  }

 private:
  [[noreturn]] void failed(int system_error) const {
    fail(exit_of(system_error), "{}: cannot be read: {}", path_.string(), std::strerror(system_error));
  }
  fs::path path_;
  Descriptor file_;
};

struct EndInflate {
  void operator()(z_stream* stream) const { inflateEnd(stream); }
};

// Up to `size` bytes of the zlib or gzip stream at the position of `file`. The checksum is verified if the
// stream ends within them.
std::string unpacked(const fs::path& path, const VoxelFile& file, std::size_t size) {
  z_stream stream{};
  constexpr int any_header = 15 + 32;  // zlib's or gzip's
  if (inflateInit2(&stream, any_header) != Z_OK) no_memory_for(path);
  const std::unique_ptr<z_stream, EndInflate> ended(&stream);
  std::string bytes, packed(std::size_t{1} << 18, '\0');
  int status = Z_OK;
  while (status == Z_OK && bytes.size() < size) {
    if (stream.avail_in == 0) {
      stream.next_in = reinterpret_cast<Bytef*>(packed.data());
      stream.avail_in = static_cast<uInt>(file.read(packed.data(), packed.size()));
    }
    const std::size_t before = bytes.size(), chunk = std::min<std::size_t>(size - before, 1 << 22);
    bytes.resize(before + chunk);
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data() + before);
    stream.avail_out = static_cast<uInt>(chunk);
    status = inflate(&stream, Z_NO_FLUSH);
    bytes.resize(before + chunk - stream.avail_out);
  }
  if (status == Z_OK || status == Z_STREAM_END) return bytes;
  if (status == Z_MEM_ERROR) no_memory_for(path);
  fail(Exit::bad_data, "{}: is {}: its compressed voxels end after {}. Fetch or copy the file again",
       path.string(), status == Z_BUF_ERROR ? "truncated" : "damaged",
       counted(bytes.size(), "uncompressed byte"));
}

// Allocates the declared size, but no more than the file can contain.
std::string read_voxels(const fs::path& path, const RawImage& raw) {
  const std::size_t promised = static_cast<std::size_t>(raw.image.geometry.count()) *
                               static_cast<std::size_t>(raw.image.volumes) *
                               bytes_of_element(raw.image.element);
  error_code missing;
  const auto there = static_cast<std::size_t>(fs::file_size(raw.file, missing));
  if (missing)
    fail(Exit::bad_data, "{}: its voxels should be in {}: no such file", path.string(), raw.file.string());
  const auto truncated = [&](std::size_t found) {
    fail(Exit::bad_data,
         "{}: is truncated: its header declares {} of voxels, found {}. Fetch or copy the file again",
         path.string(), counted(promised, "byte"), found);
  };
  if (const std::string placeholder = placeholder_at(raw.file); !placeholder.empty())
    fail(Exit::bad_data, "{}: its voxels should be in {}: {}", path.string(), raw.file.string(), placeholder);
  const bool from_end = raw.from_end && there >= promised;
  if (!from_end && raw.offset > there) truncated(0);
  const std::size_t begin = from_end ? there - promised : raw.offset;
  const VoxelFile file(raw.file, begin);
  std::string bytes;
  if (raw.packed && !from_end) {
    // One byte more than declared, so that the stream's end and its checksum are reached.
    bytes = unpacked(path, file, promised + 1);
  } else {
    bytes.resize(std::min(promised, there - begin));
    bytes.resize(file.read(bytes.data(), bytes.size()));
  }
  if (bytes.size() < promised) truncated(bytes.size());
  return bytes;
}

}  // namespace

ImageHeader raw_header(const fs::path& path) {
  return open_header(path).image;
}

namespace {

std::vector<Image> read_volumes(const fs::path& path, const ChooseVolumes& choose) {
  const RawImage raw = open_header(path);
  const VolumeRange wanted = choose(raw.image);
  const std::string bytes = read_voxels(path, raw);
  const auto voxels = static_cast<std::size_t>(raw.image.geometry.count());
  const auto components = static_cast<std::size_t>(raw.components);
  std::vector<Image> images;
  for (std::int64_t i = 0; i < wanted.count; ++i) {
    const auto volume = static_cast<std::size_t>(wanted.first + i);
    // Components of a voxel are adjacent, further axes are outermost.
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

}  // namespace

std::vector<Image> raw_volumes(const fs::path& path, const ChooseVolumes& choose) {
  std::vector<Image> images;
  reading(path, [&] { images = read_volumes(path, choose); });
  return images;
}

}  // namespace voxswap::data
