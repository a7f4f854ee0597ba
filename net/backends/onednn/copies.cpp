#include "net/backends/onednn/copies.h"

#include <cstring>

#include "net/backends/onednn/passes.h"

namespace voxswap::net::onednn {

namespace {

struct CopyBlocks {
  static constexpr std::int64_t block = 4096;
  std::byte* to;
  const std::byte* from;
  std::int64_t bytes;
  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    std::memcpy(to + begin * block, from + begin * block,
                static_cast<std::size_t>(std::min(end * block, bytes) - begin * block));
  }
};
}  // namespace

void copy(void* to, const void* from, std::int64_t bytes) {
  parallel((bytes + CopyBlocks::block - 1) / CopyBlocks::block, 16,
           CopyBlocks{static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes});
}

}  // namespace voxswap::net::onednn
