#include "data/formats/gzip_file.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/temporary_file.h"

namespace voxswap::data {

GzipFile::GzipFile(const fs::path& path, const fs::path& shown, bool compressed)
    : shown_(shown), file_(gzopen(path.c_str(), compressed ? "wb" : "wbT")) {
  if (file_ == nullptr) fail_writing(shown_, errno != 0 ? errno : ENOMEM);
}

GzipFile::~GzipFile() {
  if (file_ != nullptr) gzclose_w(file_);
}

void GzipFile::append(const void* bytes, std::size_t size) {
  constexpr std::size_t most = 1U << 30;  // zlib counts in int
  for (const char* from = static_cast<const char*>(bytes); size > 0;) {
    const std::size_t part = std::min(size, most);
    if (gzwrite(file_, from, static_cast<unsigned>(part)) != static_cast<int>(part))
      fail_writing(shown_, errno != 0 ? errno : EIO);
    from += part;
    size -= part;
  }
}

void GzipFile::close() {
  if (gzclose_w(std::exchange(file_, nullptr)) != Z_OK) fail_writing(shown_, errno != 0 ? errno : EIO);
}

}  // namespace voxswap::data
