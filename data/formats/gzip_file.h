// Writes a file that is compressed like those of NIfTI's library, or not at all. Errors name another path,
// because this one is temporary.
#pragma once

#include <cstddef>

#include "base/file.h"

struct gzFile_s;  // of zlib

namespace voxswap::data {

class GzipFile {
 public:
  // `shown` must outlive this object.
  GzipFile(const fs::path& path, const fs::path& shown, bool compressed = true);
  ~GzipFile();
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;

  void append(const void* bytes, std::size_t size);
  void close();

 private:
  const fs::path& shown_;
  gzFile_s* file_;
};

}  // namespace voxswap::data
