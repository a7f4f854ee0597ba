// Our own kernels around a library's convolution (weights.cu): conversion of weights to the library's layout
// and type, and of their gradient back, and the bias. All are enqueued on the current stream. Addresses are
// in device memory, 64-byte aligned.
#pragma once

#include <cstdint>

#include "net/backends/cuda/device.h"
#include "net/graph/graph.h"

namespace voxswap::net::cuda {

// Weights O,I,d,h,w with d h w = taps.
struct WeightShape {
  std::int64_t outputs = 1, inputs = 1, taps = 1;
  std::int64_t count() const { return outputs * inputs * taps; }
};

// f32 [outputs][inputs][taps] -> [outputs][taps][inputs] of `type` (f32, bf16, f16), rounded to nearest even.
void pack_weights(const float* from, void* to, ElementType type, const WeightShape& shape);

// [outputs][taps][inputs] of `type` -> f32 [outputs][inputs][taps].
void unpack_weights(const void* from, ElementType type, float* to, const WeightShape& shape);

// to[s][i] = sum of from[s][p][i] over the p, in double and in a fixed order; i < count, s < sums.
void add_parts(const float* from, std::int64_t parts, std::int64_t count, float* to, std::int64_t sums = 1);

// y[voxel][c] += bias[c], in place, rounded once.
void add_bias(void* y, const float* bias, ElementType type, std::int64_t voxels, std::int64_t channels,
              const Device& device);

// sums[c] = sum of y[voxel][c] over voxels, f32, deterministic; as operation channel_sum. `workspace`:
// channel_sums_workspace bytes.
std::int64_t channel_sums_workspace(ElementType type, std::int64_t voxels, std::int64_t channels,
                                    const Device& device);
void channel_sums(const void* y, float* sums, ElementType type, std::int64_t voxels, std::int64_t channels,
                  void* workspace, const Device& device);

}  // namespace voxswap::net::cuda
