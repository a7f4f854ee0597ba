#include "net/backends/cuda/own_kernels.h"

#include "base/error.h"
#include "net/backends/cuda/kernels.h"

namespace voxswap::net::cuda {

namespace {

struct Row {
  std::string_view operation;
  Maker maker;
};

#define ROW(operation) Row{#operation, make_##operation},
constexpr Row table[] = {VOXSWAP_OTHER_OPERATIONS(ROW)};
#undef ROW

}  // namespace

Maker find_own_maker(std::string_view operation) {
  for (const Row& row : table) {
    if (row.operation == operation) return row.maker;
  }
  return nullptr;
}

void fail_for_type(std::string_view where, ElementType type) {
  fail(Exit::failed, "{}: the CUDA backend supports f32, bf16 and f16, not {}", where, element_name(type));
}

void need_f32(std::string_view where, ElementType type) {
  if (type != ElementType::f32)
    fail(Exit::failed, "{}: the CUDA backend stores sums and parameters in f32, not in {}", where,
         element_name(type));
}

}  // namespace voxswap::net::cuda
