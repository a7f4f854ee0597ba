// Linear interpolation, average pooling, and the gradients of both.
#include <algorithm>

#include "net/backends/reference/kernels.h"
#include "net/backends/reference/planes.h"
#include "net/graph/linear_axis.h"

namespace voxswap::net::reference {

namespace {

// Calls visit(voxel of `to`, voxel of `from`, weight) for the eight of every voxel of `to`.
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

void average_pool(const Call& call) {
  const Array &x = call.inputs[0], &y = call.outputs[0];
  sum_over_planes(x.shape, 1, Sum::all_planes, y.data,
                  [&](std::int64_t i, std::int64_t, std::int64_t, double* sum) { *sum += x.data[i]; });
  for (std::int64_t i = 0; i < y.shape.count(); ++i) y.data[i] /= call.attributes.real("voxels");
}

void average_pool_gradient(const Call& call) {
  const Array &dy = call.inputs[0], &dx = call.outputs[0];
  const auto [samples, voxels, channels] = extents(dx.shape);
  for (std::int64_t i = 0; i < dx.shape.count(); ++i)
    dx.data[i] = dy.data[i / (voxels * channels) * channels + i % channels] / call.attributes.real("voxels");
}

}  // namespace voxswap::net::reference
