// The matrix products of net/backends/cuda/ptx/warp_matrix.cuh, for the CPU. The first lane of a warp holds
// the whole matrices and does all the work, because emulated threads cannot exchange data within a warp.
#pragma once

#include "net/backends/cuda/launch.cuh"

namespace voxswap::net::cuda {

template <class T>
struct LeftMatrix {
  float at[16][16];  // row, column
};
template <class T>
struct RightMatrix {
  float at[16][16];  // column, row
};
struct SumMatrix {
  float at[16][16] = {};
};

inline bool holds_matrices() {
  return threadIdx.x % 32 == 0;
}

template <bool transposed, class At>
void read_matrix(float (&to)[16][16], At at) {
  if (!holds_matrices()) return;
  for (int row = 0; row < 16; ++row)
    for (int half = 0; half < 2; ++half)
      for (int i = 0; i < 8; ++i) {
        const float value = to_float(at(row, half)[i]);
        (transposed ? to[8 * half + i][row] : to[row][8 * half + i]) = value;
      }
}

template <class T, class At>
void load(LeftMatrix<T>& matrix, At at) {
  read_matrix<false>(matrix.at, at);
}
template <class T, class At>
void load_transposed(LeftMatrix<T>& matrix, At at) {
  read_matrix<true>(matrix.at, at);
}
template <class T, class At>
void load_columns(RightMatrix<T>& matrix, At at) {
  read_matrix<false>(matrix.at, at);
}
template <class T, class At>
void load_rows(RightMatrix<T>& matrix, At at) {
  read_matrix<true>(matrix.at, at);
}

template <class T>
void multiply_add(SumMatrix& sum, const LeftMatrix<T>& left, const RightMatrix<T>& right) {
  if (!holds_matrices()) return;
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 16; ++column)
      for (int i = 0; i < 16; ++i) sum.at[row][column] += left.at[row][i] * right.at[column][i];
}

template <class Use>
void for_pairs(const SumMatrix& sum, Use use) {
  if (!holds_matrices()) return;
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 16; column += 2)
      use(row, column, sum.at[row][column], sum.at[row][column + 1]);
}

}  // namespace voxswap::net::cuda
