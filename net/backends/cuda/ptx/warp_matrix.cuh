// Products of 16 x 16 matrices on tensor cores, by a warp, from compute capability 8.0: PTX's ldmatrix and
// mma (m16n8k16). The emulated GPU has its own header of this name. All lanes of a warp must call these.
//
// Factors are in shared memory. at(row, half) is the address of 8 consecutive elements of a row, at a
// multiple of 16 bytes.
#pragma once

#include "net/backends/cuda/launch.cuh"

namespace voxswap::net::cuda {

template <class T>
struct LeftMatrix {
  unsigned part[4];
};
template <class T>
struct RightMatrix {
  unsigned part[4];
};
struct SumMatrix {
  float part[8] = {};
};

namespace warp {

__device__ inline int lane() {
  return static_cast<int>(threadIdx.x) % 32;
}

template <bool transposed>
__device__ inline void load(unsigned (&to)[4], const void* from) {
#if __CUDA_ARCH__ >= 800
  const auto place = static_cast<unsigned>(__cvta_generic_to_shared(from));
  if constexpr (transposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(place)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(place)
                 : "memory");
  }
#else
  __trap();
#endif
}

// The 8-column half of a 16 x 16 product.
template <class T>
__device__ inline void multiply_add(float* sum, const unsigned (&a)[4], const unsigned* b) {
#if __CUDA_ARCH__ >= 800
  if constexpr (std::is_same_v<T, Bf16>) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
#else
  __trap();
#endif
}

}  // namespace warp

// Rows of the factor as stored, or transposed.
template <class T, class At>
__device__ void load(LeftMatrix<T>& matrix, At at) {
  warp::load<false>(matrix.part, at(warp::lane() % 16, warp::lane() / 16));
}
template <class T, class At>
__device__ void load_transposed(LeftMatrix<T>& matrix, At at) {
  warp::load<true>(matrix.part, at(warp::lane() / 16 * 8 + warp::lane() % 8, warp::lane() / 8 % 2));
}

// Columns of the factor as stored, or transposed.
template <class T, class At>
__device__ void load_columns(RightMatrix<T>& matrix, At at) {
  warp::load<false>(matrix.part, at(warp::lane() / 16 * 8 + warp::lane() % 8, warp::lane() / 8 % 2));
}
template <class T, class At>
__device__ void load_rows(RightMatrix<T>& matrix, At at) {
  warp::load<true>(matrix.part, at(warp::lane() % 16, warp::lane() / 16));
}

// sum += left right, in f32.
template <class T>
__device__ void multiply_add(SumMatrix& sum, const LeftMatrix<T>& left, const RightMatrix<T>& right) {
  warp::multiply_add<T>(sum.part, left.part, right.part);
  warp::multiply_add<T>(sum.part + 4, left.part, right.part + 2);
}

// Calls use(row, column, element, element of the next column) once for each pair, each in one lane.
template <class Use>
__device__ void for_pairs(const SumMatrix& sum, Use use) {
#pragma unroll
  for (int i = 0; i < 4; ++i)
    use(warp::lane() / 4 + i % 2 * 8, i / 2 * 8 + warp::lane() % 4 * 2, sum.part[2 * i], sum.part[2 * i + 1]);
}

}  // namespace voxswap::net::cuda
