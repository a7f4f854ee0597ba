#include "net/backends/backend.h"

#include "base/error.h"

namespace voxswap::net {

std::unique_ptr<Memory> Backend::allocate_unified(std::int64_t, std::int64_t) {
  fail(Exit::usage, "the {} backend has no unified memory, because device and host share theirs", name());
}

}  // namespace voxswap::net
