// Tiles in plain C++, following Intel's description of TDPBF16PS (Architecture Instruction Set Extensions
// Programming Reference): products of even and odd numbers are summed separately, in order; the two sums are
// added, then added to the tile. Subnormal numbers count as zero before and after each addition. Rounding is
// to nearest, ties to even. A product of two bf16 is exact in f32, so multiply and add round once, as the
// instruction's fused form does, except for products below 2^-134. Memory accesses are exactly those of the
// instructions, so that a sanitizer can check them.
#pragma once

#include <cstring>

#include "net/backends/convolution/sizes.h"

namespace voxswap::net::convolution {
namespace {

class EmulatedTiles {
 public:
  void configure(const TileShapes& shapes) {
    shapes_ = shapes;
    std::memset(tiles_, 0, sizeof tiles_);
  }
  template <int N>
  void zero() {
    std::memset(tiles_[N], 0, sizeof tiles_[N]);
  }
  template <int N>
  void load(const void* from, std::int64_t stride) {
    zero<N>();
    for (int row = 0; row < shapes_.rows[N]; ++row)
      std::memcpy(tiles_[N][row], static_cast<const char*>(from) + row * stride, shapes_.row_bytes[N]);
  }
  template <int N>
  void store(void* to, std::int64_t stride) {
    for (int row = 0; row < shapes_.rows[N]; ++row)
      std::memcpy(static_cast<char*>(to) + row * stride, tiles_[N][row], shapes_.row_bytes[N]);
  }
  // REQUIRES: matching shapes, like the instruction.
  template <int C, int A, int B>
  void multiply_add() {
    const int pairs = shapes_.row_bytes[A] / 4, lanes = shapes_.row_bytes[C] / 4;
    if (shapes_.rows[C] != shapes_.rows[A] || shapes_.rows[B] != pairs ||
        shapes_.row_bytes[B] != shapes_.row_bytes[C])
      __builtin_trap();
    float low[tile_rows][tile_lanes], high[tile_rows][tile_lanes];
    for (int k = 0; k < pairs; ++k)
      for (int n = 0; n < tile_lanes; ++n) {
        low[k][n] = number(tiles_[B][k][n] << 16);
        high[k][n] = number(tiles_[B][k][n] & 0xffff0000u);
      }
    for (int m = 0; m < shapes_.rows[C]; ++m) {
      float even[tile_lanes] = {}, odd[tile_lanes] = {};
      for (int k = 0; k < pairs; ++k) {
        const float a = number(tiles_[A][m][k] << 16), b = number(tiles_[A][m][k] & 0xffff0000u);
        for (int n = 0; n < tile_lanes; ++n) {
          even[n] = normal(even[n] + a * low[k][n]);
          odd[n] = normal(odd[n] + b * high[k][n]);
        }
      }
      for (int n = 0; n < lanes; ++n) {
        const float sum = normal(number(tiles_[C][m][n]) + normal(even[n] + odd[n]));
        std::memcpy(&tiles_[C][m][n], &sum, sizeof sum);
      }
    }
  }
  void release() { configure({}); }

 private:
  static float normal(float value) {
    const float size = value < 0 ? -value : value;
    return size < 0x1p-126F ? 0 * value : value;
  }
  static float number(std::uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return normal(value);
  }

  TileShapes shapes_;
  alignas(64) std::uint32_t tiles_[8][tile_rows][tile_lanes] = {};
};

}  // namespace
}  // namespace voxswap::net::convolution
