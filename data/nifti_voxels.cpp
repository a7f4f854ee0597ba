#include "data/nifti_voxels.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>

#include "base/error.h"

namespace voxswap {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t header_bytes = 348;

// Offsets of the fields of struct nifti_1_header in nifti1.h.
constexpr std::size_t at_sizeof_hdr = 0, at_dim = 40, at_datatype = 70, at_vox_offset = 108, at_slope = 112,
                      at_intercept = 116, at_magic = 344;

struct Closer {
  void operator()(gzFile_s* file) const { gzclose_r(file); }
};
using File = std::unique_ptr<gzFile_s, Closer>;

// zlib hands files through that are not compressed.
File open(const fs::path& path) {
  File file(gzopen(path.c_str(), "rb"));
  if (!file) fail(Exit::bad_data, "{}: cannot be opened: {}", path.string(), std::strerror(errno));
  gzbuffer(file.get(), 1 << 18);
  return file;
}

// Up to `size` more bytes, fewer at the end of the file.
void read_up_to(const fs::path& path, gzFile_s* file, std::size_t size, std::string& bytes) {
  constexpr std::size_t piece = std::size_t{1} << 26;
  while (size > 0) {
    const std::size_t before = bytes.size(), wanted = std::min(size, piece);
    bytes.resize(before + wanted);
    const int got = gzread(file, bytes.data() + before, static_cast<unsigned>(wanted));
    bytes.resize(before + static_cast<std::size_t>(std::max(got, 0)));
    int error = Z_OK;
    gzerror(file, &error);
    if (error == Z_BUF_ERROR) {
      fail(Exit::bad_data,
           "{}: is truncated: its gzip stream ends early, after {} unpacked bytes. Fetch or copy the "
           "file again",
           path.string(), bytes.size());
    }
    if (got < 0) {
      fail(Exit::bad_data,
           "{}: is damaged: its gzip stream breaks after {} unpacked bytes. Fetch or copy the file again",
           path.string(), before);
    }
    if (got == 0) return;
    size -= static_cast<std::size_t>(got);
  }
}

template <class T>
T swap_bytes(T value) {
  std::array<char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), &value, sizeof(T));
  std::reverse(bytes.begin(), bytes.end());
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

template <class T>
T field(const std::string& header, std::size_t offset, bool swapped) {
  T value;
  std::memcpy(&value, header.data() + offset, sizeof(T));
  return swapped ? swap_bytes(value) : value;
}

bool is_swapped(const std::string& header) {
  return field<std::int32_t>(header, at_sizeof_hdr, false) != 348;
}

std::string header_trouble(const std::string& header) {
  if (header.size() < header_bytes)
    return format("is truncated: {} bytes are less than a NIfTI header", header.size());
  const bool swapped = is_swapped(header);
  if (field<std::int32_t>(header, at_sizeof_hdr, swapped) != 348 ||
      header.compare(at_magic, 4, "n+1\0", 4) != 0) {
    return "is no NIfTI-1 image in one file, whatever its name says";
  }
  const int dimensions = field<std::int16_t>(header, at_dim, swapped);
  if (dimensions < 1 || dimensions > 7)
    return format("is damaged: its header tells of {} dimensions", dimensions);
  for (int axis = 1; axis <= dimensions; ++axis) {
    const int extent = field<std::int16_t>(header, at_dim + 2 * static_cast<std::size_t>(axis), swapped);
    if (extent < 1) return format("is damaged: its header gives axis {} an extent of {}", axis, extent);
  }
  const float offset = field<float>(header, at_vox_offset, swapped);
  if (!(offset >= header_bytes && offset < 1e9F))
    return format("is damaged: its voxels are said to begin at {}", offset);
  return {};
}

// Bytes of a voxel by the code in nifti1.h; 0 for complex numbers, colours and what no compiler of ours has.
std::size_t bytes_of(int datatype) {
  switch (datatype) {
    case 2:
    case 256:
      return 1;
    case 4:
    case 512:
      return 2;
    case 8:
    case 16:
    case 768:
      return 4;
    case 64:
    case 1024:
    case 1280:
      return 8;
    default:
      return 0;
  }
}

template <class T>
std::vector<float> converted(const NiftiFile& file, std::size_t volume) {
  std::vector<float> values(file.voxels);
  const char* source = file.bytes.data() + file.offset + volume * file.voxels * sizeof(T);
  const bool scaled = file.slope != 1 || file.intercept != 0;
  for (std::size_t i = 0; i < file.voxels; ++i, source += sizeof(T)) {
    T stored;
    std::memcpy(&stored, source, sizeof(T));
    if (file.swapped) stored = swap_bytes(stored);
    values[i] = scaled ? static_cast<float>(file.slope * static_cast<double>(stored) + file.intercept)
                       : static_cast<float>(stored);
  }
  return values;
}

}  // namespace

std::string nifti_trouble(const fs::path& path) {
  std::string header;
  const File file = open(path);
  read_up_to(path, file.get(), header_bytes, header);
  return header_trouble(header);
}

NiftiFile load_nifti(const fs::path& path) {
  NiftiFile result;
  const File file = open(path);
  read_up_to(path, file.get(), header_bytes, result.bytes);
  if (const std::string trouble = header_trouble(result.bytes); !trouble.empty()) {
    fail(Exit::bad_data, "{}: {}", path.string(), trouble);
  }
  const std::string& header = result.bytes;
  result.swapped = is_swapped(header);
  result.datatype = field<std::int16_t>(header, at_datatype, result.swapped);
  result.offset = static_cast<std::size_t>(field<float>(header, at_vox_offset, result.swapped));
  result.voxels = result.volumes = 1;
  const int dimensions = field<std::int16_t>(header, at_dim, result.swapped);
  for (int axis = 1; axis <= dimensions; ++axis) {
    const auto extent =
        field<std::int16_t>(header, at_dim + 2 * static_cast<std::size_t>(axis), result.swapped);
    (axis <= 3 ? result.voxels : result.volumes) *= static_cast<std::size_t>(extent);
  }
  // nifti1.h: a slope of 0 means that nothing is scaled.
  const double slope = field<float>(header, at_slope, result.swapped);
  const double intercept = field<float>(header, at_intercept, result.swapped);
  if (slope != 0 && std::isfinite(slope) && std::isfinite(intercept)) {
    result.slope = slope;
    result.intercept = intercept;
  }
  const std::size_t bytes_per_voxel = bytes_of(result.datatype);
  if (bytes_per_voxel == 0) {
    fail(Exit::bad_data, "{}: its voxels are no plain numbers (NIfTI data type {})", path.string(),
         result.datatype);
  }
  const std::size_t promised = result.offset + result.voxels * result.volumes * bytes_per_voxel;
  // One byte more than promised, so that gzip's end, and its checksum with it, is reached.
  read_up_to(path, file.get(), promised + 1 - result.bytes.size(), result.bytes);
  if (result.bytes.size() < promised) {
    fail(Exit::bad_data,
         "{}: is truncated: its header promises {} bytes, {} are there. Fetch or copy the file again",
         path.string(), promised, result.bytes.size());
  }
  return result;
}

std::vector<float> nifti_volume(const NiftiFile& file, std::size_t volume) {
  switch (file.datatype) {
    case 2:
      return converted<std::uint8_t>(file, volume);
    case 4:
      return converted<std::int16_t>(file, volume);
    case 8:
      return converted<std::int32_t>(file, volume);
    case 16:
      return converted<float>(file, volume);
    case 64:
      return converted<double>(file, volume);
    case 256:
      return converted<std::int8_t>(file, volume);
    case 512:
      return converted<std::uint16_t>(file, volume);
    case 768:
      return converted<std::uint32_t>(file, volume);
    case 1024:
      return converted<std::int64_t>(file, volume);
    default:
      return converted<std::uint64_t>(file, volume);  // 1280; load_nifti lets no other through
  }
}

}  // namespace voxswap
