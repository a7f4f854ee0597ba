// Our own kernels: element types, launches, and the choice of template arguments when a node is compiled. For
// .cu files only.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <limits>
#include <string_view>

#include "net/backends/cuda/rows.h"
#include "net/backends/cuda/runtime.h"
#include "net/backends/function_kernel.h"

namespace voxswap::net::cuda {

// Element types in device memory, and accesses of 16 bytes at a time. All arithmetic is f32.
using Bf16 = __nv_bfloat16;
using F16 = __half;

__device__ inline float to_float(float x) {
  return x;
}
// The upper half of an f32. CUDA's own conversion takes more registers on newer devices.
__device__ inline float to_float(Bf16 x) {
  return __uint_as_float(static_cast<unsigned>(__bfloat16_as_ushort(x)) << 16);
}
__device__ inline float to_float(F16 x) {
  return __half2float(x);
}

__device__ inline void set_rounded(float& to, float x) {
  to = x;
}
__device__ inline void set_rounded(Bf16& to, float x) {
  to = __float2bfloat16_rn(x);
}
__device__ inline void set_rounded(F16& to, float x) {
  to = __float2half_rn(x);
}

// `width` consecutive elements, read or written by one instruction.
template <class T, int width>
struct alignas(sizeof(T) * width) Vector {
  T lane[width];
};

template <class T>
constexpr int full_width = 16 / static_cast<int>(sizeof(T));  // lanes of 16 bytes

template <int width, class T>
__device__ Vector<T, width> load(const T* from, std::int64_t vector) {
  return reinterpret_cast<const Vector<T, width>*>(from)[vector];
}
template <int width, class T>
__device__ void store(T* to, std::int64_t vector, const Vector<T, width>& value) {
  reinterpret_cast<Vector<T, width>*>(to)[vector] = value;
}

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

// `where` is for messages: the node's name.
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

// Index arithmetic for kernels with one thread per unit of memory, whose position in the volume takes
// divisions. They are done in 32 bits if the number of units allows, which is several times faster than 64
// bits.
__device__ inline std::int64_t index_of_thread() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// Splits the last axis, of length `side`, off an index. The rest is the index within the other axes.
template <class Index>
__device__ std::int64_t take_axis(Index& index, Index side) {
  const Index whole = index / side, place = index - whole * side;
  index = whole;
  return static_cast<std::int64_t>(place);
}

// Calls start.operator()<Index>() with an integer type that can hold `units`.
template <class Start>
void for_index(std::int64_t units, Start start) {
  if (units <= std::numeric_limits<std::uint32_t>::max()) {
    start.template operator()<std::uint32_t>();
  } else {
    start.template operator()<std::uint64_t>();
  }
}

// A kernel with one thread per vector of channels of each voxel of `volume`. It calls start.operator()<width,
// T, Index>(geometry(units, columns), arguments, blocks) for `units` vectors, `columns` per voxel.
template <class Geometry, class Start>
std::unique_ptr<Kernel> make_for_voxels(const Shape& volume, const Node& node, ElementType type,
                                        Geometry geometry, Start start) {
  return for_type(type, node.name, [&]<class T>(T) {
    const bool whole = volume[4] % full_width<T> == 0;
    const std::int64_t size = whole ? full_width<T> : 1, units = volume.count() / size,
                       columns = volume[4] / size;
    return make_own([=](const KernelArguments& arguments) {
      for_index(units, [&]<class Index>() {
        const auto made = geometry(static_cast<Index>(units), static_cast<Index>(columns));
        if (whole) {
          start.template operator()<full_width<T>, T, Index>(made, arguments, blocks_for(units));
        } else {
          start.template operator()<1, T, Index>(made, arguments, blocks_for(units));
        }
      });
    });
  });
}

// For copies: the largest unit that divides `bytes`.
struct alignas(16) Bytes16 {
  std::uint64_t content[2];
};
template <class Start>
void for_unit(std::int64_t bytes, Start start) {
  if (bytes % 16 == 0) {
    start(Bytes16{});
  } else if (bytes % 8 == 0) {
    start(std::uint64_t{});
  } else if (bytes % 4 == 0) {
    start(std::uint32_t{});
  } else {
    start(std::uint16_t{});
  }
}

}  // namespace voxswap::net::cuda
