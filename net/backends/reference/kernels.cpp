// The table of the reference backend's routines.
#include "net/backends/reference/kernels.h"

namespace voxswap::net::reference {

namespace {

struct Row {
  std::string_view operation;
  Routine routine;
};

#define ROW(operation) Row{#operation, operation},
constexpr Row table[] = {VOXSWAP_OPERATIONS(ROW)};
#undef ROW

}  // namespace

Routine find_routine(std::string_view operation) {
  for (const Row& row : table) {
    if (row.operation == operation) return row.routine;
  }
  return nullptr;
}

Extents extents(const Shape& shape) {
  const std::int64_t samples = shape[0], channels = shape[-1];
  return {samples, shape.count() / (samples * channels), channels};
}

}  // namespace voxswap::net::reference
