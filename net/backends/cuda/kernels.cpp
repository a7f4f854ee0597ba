#include "net/backends/cuda/kernels.h"

#include <cuda_runtime_api.h>

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
constexpr Row table[] = {VOXSWAP_CONVOLUTIONS(ROW)};
#undef ROW

void copy(void* to, const void* from, std::int64_t bytes) {
  check(
      cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice, current_stream()),
      "cudaMemcpyAsync");
}

std::unique_ptr<Kernel> make_on_windows(const Graph& graph, const Node& node, Device& device) {
  const auto compile = [&](const Graph& inner, const Node& of) {
    return find_maker(*of.operation)(inner, of, device);
  };
  return make_windowed(graph, node, {compile, copy, vector_bytes});
}

}  // namespace

Maker find_maker(const Operation& operation) {
  if (operation.inner != nullptr) return make_on_windows;
  for (const Row& row : table) {
    if (row.operation == operation.name) return row.maker;
  }
  return find_own_maker(operation.name);
}

}  // namespace voxswap::net::cuda
