// Resampling: upsampling by 2, subsampling of targets, and linear interpolation.
#include <algorithm>

#include "net/backends/reference/kernels.h"
#include "net/graph/axes.h"

namespace voxswap::net::reference {

// Nearest-neighbour upsampling to twice the sides, and its gradient.
void upsample_nearest(const Call& call) {
  const Array &x = call.inputs[0], &y = call.outputs[0];
  for_each_in_blocks(y.shape, [&](std::int64_t fine, std::int64_t coarse) { y.data[fine] = x.data[coarse]; });
}

void upsample_nearest_gradient(const Call& call) {
  const Array &dy = call.inputs[0], &dx = call.outputs[0];
  std::fill_n(dx.data, dx.shape.count(), 0.0);
  for_each_in_blocks(dy.shape,
                     [&](std::int64_t fine, std::int64_t coarse) { dx.data[coarse] += dy.data[fine]; });
}

// The middle voxel of each block.
void subsample(const Call& call) {
  const Array &x = call.inputs[0], &y = call.outputs[0];
  const std::int64_t d = call.attributes.integer("d"), h = call.attributes.integer("h"),
                     w = call.attributes.integer("w"),
                     bytes = x.shape.rank() == 4 ? 1 : x.shape[4];  // of a voxel
  std::int64_t byte = 0;
  for (std::int64_t n = 0; n < y.shape[0]; ++n)
    for (std::int64_t z = 0; z < y.shape[1]; ++z)
      for (std::int64_t row = 0; row < y.shape[2]; ++row)
        for (std::int64_t column = 0; column < y.shape[3]; ++column) {
          const std::int64_t plane = n * x.shape[1] + z * d + d / 2;
          const std::int64_t line = plane * x.shape[2] + row * h + h / 2;
          const double* from = x.data + (line * x.shape[3] + column * w + w / 2) * bytes;
          for (std::int64_t b = 0; b < bytes; ++b) y.data[byte++] = from[b];
        }
}

// Linear interpolation and its gradient.

namespace {

// Calls visit(voxel of `to`, voxel of `from`, weight) for the eight neighbours of every voxel of `to`.
template <class Visit>
void for_each_share(const Attributes& attributes, const Shape& from, const Shape& to, Visit visit) {
  const LinearAxis along_z = linear_depth(attributes, from, to), along_y = {from[2], to[2]},
                   along_x = {from[3], to[3]};
  std::int64_t out = 0;
  for (std::int64_t n = 0; n < to[0]; ++n)
    for (std::int64_t oz = 0; oz < to[1]; ++oz)
      for (std::int64_t oy = 0; oy < to[2]; ++oy)
        for (std::int64_t ox = 0; ox < to[3]; ++ox, ++out) {
          const LinearAxis::Between z = along_z.between_here(oz), y = along_y.between_here(oy),
                                    x = along_x.between_here(ox);
          for (int corner = 0; corner < 8; ++corner) {
            const bool far_z = (corner & 4) != 0, far_y = (corner & 2) != 0, far_x = (corner & 1) != 0;
            const std::int64_t iz = far_z ? z.high : z.low, iy = far_y ? y.high : y.low,
                               ix = far_x ? x.high : x.low;
            if (iz < 0 || iz >= from[1]) continue;  // in another part of the volume
            const double weight = (far_z ? z.of_high : 1 - z.of_high) * (far_y ? y.of_high : 1 - y.of_high) *
                                  (far_x ? x.of_high : 1 - x.of_high);
            visit(out, ((n * from[1] + iz) * from[2] + iy) * from[3] + ix, weight);
          }
        }
}

}  // namespace

void resize_linear(const Call& call) {
  const Array &x = call.inputs[0], &y = call.outputs[0];
  const std::int64_t channels = x.shape[4];
  std::fill_n(y.data, y.shape.count(), 0.0);
  for_each_share(call.attributes, x.shape, y.shape, [&](std::int64_t out, std::int64_t in, double weight) {
    for (std::int64_t c = 0; c < channels; ++c)
      y.data[out * channels + c] += weight * x.data[in * channels + c];
  });
}

void resize_linear_gradient(const Call& call) {
  const Array &dy = call.inputs[0], &dx = call.outputs[0];
  const std::int64_t channels = dy.shape[4];
  std::fill_n(dx.data, dx.shape.count(), 0.0);
  for_each_share(call.attributes, dx.shape, dy.shape, [&](std::int64_t out, std::int64_t in, double weight) {
    for (std::int64_t c = 0; c < channels; ++c)
      dx.data[in * channels + c] += weight * dy.data[out * channels + c];
  });
}

}  // namespace voxswap::net::reference
