// Element types in device memory, and accesses of 16 bytes at a time. All arithmetic is f32.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace voxswap::net::cuda {

using Bf16 = __nv_bfloat16;
using F16 = __half;

__device__ inline float to_float(float x) {
  return x;
}
// The upper half of an f32. Not CUDA's own conversion, which takes more registers on newer devices.
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

// `width` neighbours in memory, read or written by one instruction.
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

}  // namespace voxswap::net::cuda
