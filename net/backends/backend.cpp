#include "net/backends/backend.h"

#include "base/error.h"

namespace voxswap::net {

std::unique_ptr<Memory> Backend::allocate_unified(std::int64_t) {
  fail(Exit::usage,
       "device memory and host memory are one on the {} backend: there is none that moves by itself", name());
}

}  // namespace voxswap::net
