#include "data/formats/nifti_voxels.h"

#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "data/formats/formats.h"
#include "data/formats/itk_buffer.h"
#include "data/formats/nifti_header.h"
#include "data/formats/nifti_placement.h"
#include "data/formats/voxel_bytes.h"

namespace voxswap::data {

namespace {

struct Closer {
  void operator()(gzFile_s* file) const { gzclose_r(file); }
};
using File = std::unique_ptr<gzFile_s, Closer>;

// zlib also reads uncompressed files.
File open(const fs::path& path) {
  Descriptor descriptor = open_file(path);
  File file(gzdopen(descriptor.number(), "rb"));
  if (!file) no_memory_for(path);
  descriptor.release();
  gzbuffer(file.get(), 1 << 14);  // zlib's buffers are twice this size, even for a header
  return file;
}

// Reads up to `size` more bytes, fewer at the end of the file.
void unpack_up_to(const fs::path& path, gzFile_s* file, std::size_t size, std::string& bytes) {
  constexpr std::size_t chunk = std::size_t{1} << 22;
  while (size > 0) {
    const std::size_t before = bytes.size(), wanted = size < 2 * chunk ? size : chunk;
    bytes.resize(before + wanted);
    const int got = gzread(file, bytes.data() + before, static_cast<unsigned>(wanted));
    bytes.resize(before + static_cast<std::size_t>(std::max(got, 0)));
    int error = Z_OK;
    gzerror(file, &error);
    if (error == Z_MEM_ERROR) no_memory_for(path);
    if (error == Z_ERRNO) fail(Exit::failed, "{}: cannot be read: {}", path.string(), std::strerror(errno));
    if (error == Z_BUF_ERROR) {
      fail(Exit::bad_data,
           "{}: is truncated: its gzip stream ends early, after {}. Fetch or copy the file again",
           path.string(), counted(bytes.size(), "uncompressed byte"));
    }
    if (got < 0) {
      fail(Exit::bad_data,
           "{}: is damaged: its gzip stream is invalid after {}. Fetch or copy the file again", path.string(),
           counted(before, "uncompressed byte"));
    }
    if (got == 0) return;
    size -= static_cast<std::size_t>(got);
  }
}

struct NiftiFile {
  NiftiHeader header;
  VolumeRange wanted;
  std::string read;                    // the decompressed file, read with zlib, or
  std::unique_ptr<char[]> unpacked{};  // decompressed in one call, without clearing memory first
  std::size_t size = 0;                // bytes in `unpacked`

  std::string_view bytes() const { return unpacked ? std::string_view(unpacked.get(), size) : read; }
};

// Extra bytes allowed besides the voxels: gzip's own, and trailing ones.
constexpr std::size_t allowance = std::size_t{1} << 20;

// Decompresses the file in one call, several times faster than zlib. Does nothing if the file is not a single
// valid gzip stream of about the declared size: then zlib reads it, reports errors, and stops after the
// declared size.
void unpack_at_once(const fs::path& path, std::size_t promised, NiftiFile& file) {
  error_code missing;
  const auto packed_size = fs::file_size(path, missing);
  constexpr std::size_t least = 18, most_per_byte = 1032;  // bounds of a gzip stream
  if (missing || packed_size < least || packed_size > promised + allowance) return;
  const std::string packed = read_file(path);
  if (packed.size() < least || !packed.starts_with("\x1f\x8b")) return;
  std::uint32_t size = 0;  // the last four bytes: the size modulo 2^32
  for (std::size_t i = 1; i <= 4; ++i)
    size = size << 8 | static_cast<unsigned char>(packed[packed.size() - i]);
  if (size > packed.size() * most_per_byte || size < promised || size > promised + allowance) return;
  struct Free {
    void operator()(libdeflate_decompressor* it) const { libdeflate_free_decompressor(it); }
  };
  const std::unique_ptr<libdeflate_decompressor, Free> decompressor(libdeflate_alloc_decompressor());
  if (!decompressor) no_memory_for(path);
  auto bytes = std::make_unique_for_overwrite<char[]>(size);
  std::size_t used = 0;
  const libdeflate_result result = libdeflate_gzip_decompress_ex(
      decompressor.get(), packed.data(), packed.size(), bytes.get(), size, &used, nullptr);
  if (result != LIBDEFLATE_SUCCESS || used != packed.size()) return;
  file.unpacked = std::move(bytes);
  file.size = size;
}

// Reads and discards bytes after the voxels, up to a limit, so that gzip's checksum is verified.
void read_past_end(const fs::path& path, gzFile_s* file) {
  for (std::size_t left = 64 * allowance; left > 0;) {
    std::string chunk;
    unpack_up_to(path, file, allowance, chunk);
    if (chunk.size() < allowance) return;
    left -= allowance;
  }
}

[[noreturn]] void truncated(const fs::path& path, std::size_t promised, const std::string& there) {
  fail(Exit::bad_data, "{}: is truncated: its header declares {}, found {}. Fetch or copy the file again",
       path.string(), counted(promised, "byte"), there);
}

NiftiFile load(const fs::path& path, const ChooseVolumes& choose) {
  NiftiFile result;
  const File file = open(path);
  unpack_up_to(path, file.get(), most_nifti_header_bytes, result.read);
  result.header = parse_nifti_header(path, result.read);
  result.wanted = choose(result.header.image);
  const std::size_t promised = result.header.promised_bytes();
  unpack_at_once(path, promised, result);
  if (result.unpacked) return result;
  // Request one byte more than declared: zlib reports a truncated stream only if it has to read past its
  // content.
  if (promised >= result.read.size())
    unpack_up_to(path, file.get(), promised + 1 - result.read.size(), result.read);
  if (result.read.size() < promised) truncated(path, promised, std::to_string(result.read.size()));
  read_past_end(path, file.get());
  return result;
}

std::vector<float> volume_of(const NiftiFile& file, std::size_t volume) {
  const NiftiHeader& header = file.header;
  StoredVoxels stored;
  stored.element = header.image.element;
  stored.bytes =
      file.bytes().substr(header.offset + volume * header.voxels() * bytes_of_element(stored.element));
  stored.swapped = header.swapped;
  stored.slope = header.slope;
  stored.intercept = header.intercept;
  return decode(stored, header.voxels());
}

NiftiHeader read_header_only(const fs::path& path) {
  std::string bytes;
  const File file = open(path);
  unpack_up_to(path, file.get(), most_nifti_header_bytes, bytes);
  return parse_nifti_header(path, bytes);
}

}  // namespace

ImageHeader nifti_header(const fs::path& path) {
  return read_header_only(path).image;
}

std::optional<NiftiPlacement> nifti_placement(const fs::path& file, const Geometry& grid) {
  if (!is_nifti(file)) return std::nullopt;
  try {
    const NiftiHeader header = read_header_only(file);
    if (same_grid(header.image.geometry, grid)) return header.placement;
  } catch (const Error&) {  // it may be gone by now
  }
  return std::nullopt;
}

std::vector<Image> nifti_volumes(const fs::path& path, const ChooseVolumes& choose) {
  std::vector<Image> images;
  reading(path, [&] {
    const NiftiFile file = load(path, choose);
    for (std::int64_t i = 0; i < file.wanted.count; ++i)
      images.push_back(
          {file.header.image.geometry, volume_of(file, static_cast<std::size_t>(file.wanted.first + i))});
  });
  return images;
}

void check_nifti(const fs::path& path) {
  reading(path, [&] { load(path, [](const ImageHeader&) { return VolumeRange(); }); });
}

}  // namespace voxswap::data
