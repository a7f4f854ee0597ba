// Launches our kernels, and selects template arguments when a node is compiled. For .cu files only.
#pragma once

#include <cuda_runtime.h>

#include <string_view>

#include "net/backends/cuda/elements.cuh"
#include "net/backends/cuda/rows.h"
#include "net/backends/cuda/runtime.h"
#include "net/backends/function_kernel.h"

namespace voxswap::net::cuda {

// Enqueues kernel(arguments…) on the current stream; `name` is for messages.
template <class... Parameters, class... Arguments>
void launch(std::string_view name, void (*kernel)(Parameters...), dim3 blocks, int threads,
            const Arguments&... arguments) {
  cudaLaunchConfig_t configuration = {};
  configuration.gridDim = blocks;
  configuration.blockDim = dim3(static_cast<unsigned>(threads));
  configuration.stream = current_stream();
  check(cudaLaunchKernelEx(&configuration, kernel, static_cast<Parameters>(arguments)...), name);
}

inline dim3 blocks_of(const Rows& rows) {
  return dim3(static_cast<unsigned>(rows.chunks), static_cast<unsigned>(rows.parts),
              static_cast<unsigned>(rows.samples));
}

// Blocks for one thread per element.
inline dim3 blocks_for(std::int64_t elements) {
  return dim3(static_cast<unsigned>((elements + block_threads - 1) / block_threads));
}

// own_kernels.cpp. `where` is for messages: the node's name.
[[noreturn]] void fail_for_type(std::string_view where, ElementType type);
void need_f32(std::string_view where, ElementType type);  // for tensors that are always f32

// Calls make(T{}) with the element type in memory.
template <class Make>
auto for_type(ElementType type, std::string_view where, Make make) {
  switch (type) {
    case ElementType::f32:
      return make(float{});
    case ElementType::bf16:
      return make(Bf16{});
    case ElementType::f16:
      return make(F16{});
    default:
      fail_for_type(where, type);
  }
}

// Calls start.operator()<width>() with the vector width chosen for the rows.
template <class T, class Start>
void for_width(const Rows& rows, Start start) {
  if (rows.width == 1) {
    start.template operator()<1>();
  } else {
    start.template operator()<full_width<T>>();
  }
}

template <class Function>
std::unique_ptr<Kernel> make_own(Function function, std::int64_t workspace = 0) {
  return make_function_kernel(std::move(function), workspace, "own kernel");
}
template <class Function>
std::unique_ptr<Kernel> make_own(const Rows& rows, Function function, std::int64_t workspace = 0) {
  return make_function_kernel(std::move(function), workspace,
                              rows.width == 1 ? "own kernel, element by element" : "own kernel, 16 bytes");
}

}  // namespace voxswap::net::cuda
