#include "data/completeness.h"

#include <zlib.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <vector>

#include "base/text.h"

namespace voxswap {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t nifti1_header_bytes = 348;

struct Stream {
  std::string head;        // the first bytes, enough for a header
  std::int64_t bytes = 0;  // all of them, unpacked
  std::string trouble;     // why it ended too early
};

// Reads to the end; zlib passes files through that are not compressed.
Stream unpack(const fs::path& path) {
  Stream stream;
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return {{}, 0, "cannot be opened"};
  gzbuffer(file, 1 << 18);
  std::vector<char> buffer(1 << 18);
  int got = 0;
  while ((got = gzread(file, buffer.data(), static_cast<unsigned>(buffer.size()))) > 0) {
    if (stream.head.size() < nifti1_header_bytes)
      stream.head.append(buffer.data(), static_cast<std::size_t>(got));
    stream.bytes += got;
  }
  int error = Z_OK;
  const std::string detail = gzerror(file, &error);
  const int closed = gzclose_r(file);
  if (error == Z_BUF_ERROR || closed == Z_BUF_ERROR) {
    stream.trouble =
        format("is truncated: its gzip stream ends early, after {} unpacked bytes", stream.bytes);
  } else if (got < 0 || (error != Z_OK && error != Z_STREAM_END)) {
    stream.trouble = format("is damaged: its gzip stream is broken after {} unpacked bytes", stream.bytes);
  }
  return stream;
}

template <class T>
T field(const std::string& header, std::size_t offset, bool swapped) {
  std::array<char, sizeof(T)> bytes;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes[swapped ? sizeof(T) - 1 - i : i] = header[offset + i];
  }
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

// Bytes of a single-file NIfTI-1, header included, by its header (nifti1.h); -1 when it is something else.
std::int64_t promised_bytes(const std::string& head) {
  if (head.size() < nifti1_header_bytes || head.compare(344, 3, "n+1") != 0) return -1;
  const bool swapped = field<std::int32_t>(head, 0, false) != 348;
  const int dimensions = field<std::int16_t>(head, 40, swapped);
  if (dimensions < 1 || dimensions > 7) return -1;
  double bits = field<std::int16_t>(head, 72, swapped);
  for (int axis = 1; axis <= dimensions; ++axis) {
    bits *= field<std::int16_t>(head, 40 + 2 * static_cast<std::size_t>(axis), swapped);
  }
  const double bytes = field<float>(head, 108, swapped) + bits / 8;
  return bytes > 0 && bytes < 1e15 ? static_cast<std::int64_t>(bytes) : -1;
}

std::string read_head(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(nifti1_header_bytes, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  return head;
}

}  // namespace

std::string incomplete(const fs::path& path) {
  const std::string name = lower(path.filename().string());
  const bool packed = ends_with(name, ".gz");
  if (!packed && !ends_with(name, ".nii")) return {};
  Stream stream;
  if (packed) {
    stream = unpack(path);
    if (!stream.trouble.empty()) return stream.trouble;
  } else {
    std::error_code ignored;
    stream.head = read_head(path);
    stream.bytes = static_cast<std::int64_t>(fs::file_size(path, ignored));
  }
  if (stream.bytes < static_cast<std::int64_t>(nifti1_header_bytes)) {
    return format("is truncated: {} bytes are less than a header", stream.bytes);
  }
  const std::int64_t promised = promised_bytes(stream.head);
  if (promised > stream.bytes) {
    return format("is truncated: its header promises {} bytes, {} are there", promised, stream.bytes);
  }
  return {};
}

}  // namespace voxswap
