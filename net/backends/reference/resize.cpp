// Other sides by linear interpolation, the mean over a volume, and the gradients of both.
#include <algorithm>

#include "net/backends/reference/kernels.h"

namespace voxswap::net::reference {

namespace {

// Of the output `o` of an axis: two inputs and the weight of the second (net/ops/resize_linear.cpp).
struct Between {
  std::int64_t low, high;
  double of_high;
};
Between between(std::int64_t o, std::int64_t side, std::int64_t outputs) {
  const double ratio = static_cast<double>(side) / static_cast<double>(outputs);
  const double at = std::max((static_cast<double>(o) + 0.5) * ratio - 0.5, 0.0);
  const std::int64_t low = std::min(static_cast<std::int64_t>(at), side - 1);
  return {low, std::min(low + 1, side - 1), at - static_cast<double>(low)};
}

// Calls visit(voxel of `to`, voxel of `from`, weight) for the eight of every voxel of `to`.
template <class Visit>
void for_each_share(const Shape& from, const Shape& to, Visit visit) {
  std::int64_t out = 0;
  for (std::int64_t n = 0; n < to[0]; ++n)
    for (std::int64_t oz = 0; oz < to[1]; ++oz)
      for (std::int64_t oy = 0; oy < to[2]; ++oy)
        for (std::int64_t ox = 0; ox < to[3]; ++ox, ++out) {
          const Between z = between(oz, from[1], to[1]), y = between(oy, from[2], to[2]),
                        x = between(ox, from[3], to[3]);
          for (int corner = 0; corner < 8; ++corner) {
            const bool far_z = (corner & 4) != 0, far_y = (corner & 2) != 0, far_x = (corner & 1) != 0;
            const std::int64_t iz = far_z ? z.high : z.low, iy = far_y ? y.high : y.low,
                               ix = far_x ? x.high : x.low;
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
  for_each_share(x.shape, y.shape, [&](std::int64_t out, std::int64_t in, double weight) {
    for (std::int64_t c = 0; c < channels; ++c)
      y.data[out * channels + c] += weight * x.data[in * channels + c];
  });
}

void resize_linear_gradient(const Call& call) {
  const Array &dy = call.inputs[0], &dx = call.outputs[0];
  const std::int64_t channels = dy.shape[4];
  std::fill_n(dx.data, dx.shape.count(), 0.0);
  for_each_share(dx.shape, dy.shape, [&](std::int64_t out, std::int64_t in, double weight) {
    for (std::int64_t c = 0; c < channels; ++c)
      dx.data[in * channels + c] += weight * dy.data[out * channels + c];
  });
}

void average_pool(const Call& call) {
  const Array &x = call.inputs[0], &y = call.outputs[0];
  const auto [samples, voxels, channels] = extents(x.shape);
  for (std::int64_t i = 0; i < samples * channels; ++i) {
    const double* first = x.data + i / channels * voxels * channels + i % channels;
    double sum = 0;
    for (std::int64_t v = 0; v < voxels; ++v) sum += first[v * channels];
    y.data[i] = sum / static_cast<double>(voxels);
  }
}

void average_pool_gradient(const Call& call) {
  const Array &dy = call.inputs[0], &dx = call.outputs[0];
  const auto [samples, voxels, channels] = extents(dx.shape);
  for (std::int64_t i = 0; i < dx.shape.count(); ++i)
    dx.data[i] = dy.data[i / (voxels * channels) * channels + i % channels] / static_cast<double>(voxels);
}

}  // namespace voxswap::net::reference
