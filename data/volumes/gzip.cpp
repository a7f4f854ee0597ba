#include "data/volumes/gzip.h"

#include <libdeflate.h>

#include <memory>

#include "base/error.h"
#include "base/text.h"

namespace voxswap::data {

std::string gzipped(std::string_view bytes) {
  struct Free {
    void operator()(libdeflate_compressor* it) const { libdeflate_free_compressor(it); }
  };
  constexpr int level = 6;  // zlib's default; higher levels take longer and save 1 %
  const std::unique_ptr<libdeflate_compressor, Free> compressor(libdeflate_alloc_compressor(level));
  if (!compressor)
    fail(Exit::does_not_fit, "not enough memory to compress {}", counted(bytes.size(), "byte"));
  std::string packed(libdeflate_gzip_compress_bound(compressor.get(), bytes.size()), '\0');
  packed.resize(
      libdeflate_gzip_compress(compressor.get(), bytes.data(), bytes.size(), packed.data(), packed.size()));
  return packed;
}

}  // namespace voxswap::data
