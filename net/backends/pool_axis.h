// An axis of sliding max pooling, on a CPU and on a GPU: constexpr functions run on both.
#pragma once

#include <cstdint>

#include "base/shape.h"
#include "net/graph/axes.h"

namespace voxswap::net {

struct PoolAxis {
  std::int64_t kernel, stride, before, input, output;

  __attribute__((always_inline)) constexpr std::int64_t from(
      std::int64_t o) const {  // the first input position under the kernel
    const std::int64_t start = o * stride - before;
    return start < 0 ? 0 : start;
  }
  __attribute__((always_inline)) constexpr std::int64_t to(std::int64_t o) const {  // end of the range
    const std::int64_t end = o * stride - before + kernel;
    return end < input ? end : input;
  }
  // The range of outputs first <= o < end whose kernels cover an input position.
  __attribute__((always_inline)) constexpr std::int64_t first_over(std::int64_t i) const {
    const std::int64_t least = i + before - kernel + 1;
    return least <= 0 ? 0 : (least + stride - 1) / stride;
  }
  __attribute__((always_inline)) constexpr std::int64_t end_over(std::int64_t i) const {
    const std::int64_t end = (i + before) / stride + 1;
    return end < output ? end : output;
  }
  __attribute__((always_inline)) constexpr std::int64_t tap(std::int64_t o, std::int64_t i) const {
    return i - o * stride + before;
  }
};

// The pooling of axis 0, 1 or 2 (depth, height, width) of volumes N,D,H,W,C.
inline PoolAxis pool_axis(const Shape& in, const Shape& out, const KernelAxes& axes, int i) {
  const KernelAxis& a = axes[static_cast<std::size_t>(i)];
  return {a.kernel, a.stride, a.before, in[i + 1], out[i + 1]};
}

}  // namespace voxswap::net
