// The parts of a convolution of an upsampled volume besides the convolution itself
// (net/ops/upsampled_convolution.cpp): the kernels of its eight phases, and the rearrangement of its output.
#include <algorithm>

#include "net/backends/reference/kernels.h"

namespace voxswap::net::reference {

namespace {

// The tap of a phase's two to which tap k of the 3 contributes.
std::int64_t tap_of(std::int64_t phase, std::int64_t k) {
  return (k + 1 - phase) / 2;
}

// Calls visit(phase, tap of 27, tap of 8) for all taps of all phases.
template <class Visit>
void for_each_tap_of_phase(Visit visit) {
  for (std::int64_t phase = 0; phase < 8; ++phase)
    for (std::int64_t k = 0; k < 27; ++k)
      visit(phase, k,
            4 * tap_of(phase >> 2, k / 9) + 2 * tap_of(phase >> 1 & 1, k / 3 % 3) + tap_of(phase & 1, k % 3));
}

// Calls visit(element of y, element of z) for all of y.
template <class Visit>
void for_each_voxel(const Shape& fine, const Shape& phases, std::int64_t shift, Visit visit) {
  const std::int64_t channels = fine[4];
  std::int64_t i = 0;
  for (std::int64_t n = 0; n < fine[0]; ++n)
    for (std::int64_t z = 0; z < fine[1]; ++z)
      for (std::int64_t y = 0; y < fine[2]; ++y)
        for (std::int64_t x = 0; x < fine[3]; ++x) {
          const std::int64_t from = z - shift;  // -1 is the odd plane before the first even one
          const std::int64_t phase = 4 * (from & 1) + 2 * (y % 2) + x % 2;
          const std::int64_t voxel =
              ((n * phases[1] + (from + 1) / 2) * phases[2] + (y + 1) / 2) * phases[3] + (x + 1) / 2;
          for (std::int64_t c = 0; c < channels; ++c, ++i) visit(i, (voxel * 8 + phase) * channels + c);
        }
}

}  // namespace

void upsampled_weights(const Call& call) {
  const Array &w = call.inputs[0], &kernels = call.outputs[0];
  const std::int64_t pairs = w.shape[0] * w.shape[1];
  std::fill_n(kernels.data, kernels.shape.count(), 0.0);
  for_each_tap_of_phase([&](std::int64_t phase, std::int64_t from, std::int64_t to) {
    for (std::int64_t pair = 0; pair < pairs; ++pair)
      kernels.data[(phase * pairs + pair) * 8 + to] += w.data[pair * 27 + from];
  });
}

void upsampled_weights_gradient(const Call& call) {
  const Array &kernels = call.inputs[0], &dw = call.outputs[0];
  const std::int64_t pairs = dw.shape[0] * dw.shape[1];
  std::fill_n(dw.data, dw.shape.count(), 0.0);
  for_each_tap_of_phase([&](std::int64_t phase, std::int64_t to, std::int64_t from) {
    for (std::int64_t pair = 0; pair < pairs; ++pair)
      dw.data[pair * 27 + to] += kernels.data[(phase * pairs + pair) * 8 + from];
  });
}

void interleave(const Call& call) {
  const Array &z = call.inputs[0], &y = call.outputs[0];
  for_each_voxel(y.shape, z.shape, 0, [&](std::int64_t to, std::int64_t from) { y.data[to] = z.data[from]; });
}

void interleave_gradient(const Call& call) {
  const Array &dy = call.inputs[0], &dz = call.outputs[0];
  std::fill_n(dz.data, dz.shape.count(), 0.0);
  for_each_voxel(dy.shape, dz.shape, call.attributes.integer_or("shift", 0),
                 [&](std::int64_t from, std::int64_t to) { dz.data[to] = dy.data[from]; });
}

}  // namespace voxswap::net::reference
