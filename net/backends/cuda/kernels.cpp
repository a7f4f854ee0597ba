#include "net/backends/cuda/kernels.h"

#include <cuda_runtime_api.h>

#include "base/error.h"
#include "net/backends/cuda/runtime.h"
#include "net/backends/windowed.h"
#include "net/graph/operation.h"

namespace voxswap::net::cuda {

namespace {

struct Row {
  std::string_view operation;
  Maker maker;
};

#define ROW(operation) Row{#operation, make_##operation},
constexpr Row library_table[] = {VOXSWAP_CONVOLUTIONS(ROW)};
constexpr Row own_table[] = {VOXSWAP_OTHER_OPERATIONS(ROW)};
#undef ROW

template <std::size_t size>
Maker find_in(const Row (&table)[size], std::string_view operation) {
  for (const Row& row : table)
    if (row.operation == operation) return row.maker;
  return nullptr;
}

void copy(void* to, const void* from, std::int64_t bytes) {
  check(
      cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice, current_stream()),
      "cudaMemcpyAsync");
}

std::unique_ptr<Kernel> make_on_windows(const Graph& graph, const Node& node, Device& device) {
  if (auto kernel = make_windowed_narrow_convolution(graph, node, device)) return kernel;
  const auto compile = [&](const Graph& inner, const Node& of) {
    return find_maker(*of.operation)(inner, of, device);
  };
  return make_windowed(graph, node, {compile, copy, vector_bytes});
}

}  // namespace

Maker find_maker(const Operation& operation) {
  if (operation.inner != nullptr) return make_on_windows;
  const Maker maker = find_in(library_table, operation.name);
  return maker != nullptr ? maker : find_own_maker(operation.name);
}

Maker find_own_maker(std::string_view operation) {
  return find_in(own_table, operation);
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
