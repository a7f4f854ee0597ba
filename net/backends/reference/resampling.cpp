// Max pooling, upsampling and subsampling by blocks, linear interpolation and average pooling.
#include <algorithm>
#include <limits>

#include "net/backends/reference/kernels.h"
#include "net/graph/axes.h"

namespace voxswap::net::reference {

namespace {

// Calls visit(fine, coarse) for each element of a fine N,D,H,W,C array, in scan order, and the element of the
// half-size array whose 2x2x2 block contains it.
template <class Visit>
void for_each_in_blocks(const Shape& fine, Visit visit) {
  std::int64_t i = 0;
  for (std::int64_t n = 0; n < fine[0]; ++n)
    for (std::int64_t z = 0; z < fine[1]; ++z)
      for (std::int64_t y = 0; y < fine[2]; ++y)
        for (std::int64_t x = 0; x < fine[3]; ++x) {
          const std::int64_t coarse =
              ((n * (fine[1] / 2) + z / 2) * (fine[2] / 2) + y / 2) * (fine[3] / 2) + x / 2;
          for (std::int64_t c = 0; c < fine[4]; ++c, ++i) visit(i, coarse * fine[4] + c);
        }
}

}  // namespace

void max_pool(const Call& call) {
  const Array &x = call.inputs[0], &y = call.outputs[0];
  std::fill_n(y.data, y.shape.count(), -std::numeric_limits<double>::infinity());
  for_each_in_blocks(x.shape, [&](std::int64_t fine, std::int64_t coarse) {
    y.data[coarse] = std::max(y.data[coarse], x.data[fine]);
  });
}

void max_pool_gradient(const Call& call) {
  const Array &x = call.inputs[0], &dy = call.inputs[1], &dx = call.outputs[0];
  const Shape& fine = x.shape;
  std::fill_n(dx.data, dx.shape.count(), 0.0);
  // A block's elements are far apart in scan order, so the first maximum is looked up block by block.
  const std::int64_t row = fine[3] * fine[4], plane = fine[2] * row;
  const std::int64_t corners[8] = {0,     fine[4],         row,         row + fine[4],
                                   plane, plane + fine[4], plane + row, plane + row + fine[4]};
  std::int64_t coarse = 0;
  for (std::int64_t n = 0; n < fine[0]; ++n)
    for (std::int64_t z = 0; z + 1 < fine[1]; z += 2)
      for (std::int64_t y = 0; y + 1 < fine[2]; y += 2)
        for (std::int64_t w = 0; w + 1 < fine[3]; w += 2)
          for (std::int64_t c = 0; c < fine[4]; ++c, ++coarse) {
            const std::int64_t block = (n * fine[1] + z) * plane + y * row + w * fine[4] + c;
            const auto* first = std::max_element(corners, corners + 8, [&](std::int64_t a, std::int64_t b) {
              return x.data[block + a] < x.data[block + b];
            });
            dx.data[block + *first] = dy.data[coarse];
          }
}

// Sliding max pooling. Its gradient goes to the first maximum in scan order.

namespace {

// Calls visit(element of y, tap, element of x) for all taps that lie inside x, in scan order.
template <class Visit>
void for_each_tap(const Shape& x, const Shape& y, const KernelAxes& axes, Visit visit) {
  const auto& [along_z, along_y, along_x] = axes;
  const std::int64_t channels = x[4];
  std::int64_t out = 0;
  for (std::int64_t n = 0; n < y[0]; ++n)
    for (std::int64_t oz = 0; oz < y[1]; ++oz)
      for (std::int64_t oy = 0; oy < y[2]; ++oy)
        for (std::int64_t ox = 0; ox < y[3]; ++ox)
          for (std::int64_t c = 0; c < channels; ++c, ++out)
            for (std::int64_t kz = along_z.first_tap(oz); kz < along_z.end_tap(oz, x[1]); ++kz)
              for (std::int64_t ky = along_y.first_tap(oy); ky < along_y.end_tap(oy, x[2]); ++ky)
                for (std::int64_t kx = along_x.first_tap(ox); kx < along_x.end_tap(ox, x[3]); ++kx) {
                  const std::int64_t iz = along_z.start(oz) + kz, iy = along_y.start(oy) + ky,
                                     ix = along_x.start(ox) + kx;
                  visit(out, (kz * along_y.kernel + ky) * along_x.kernel + kx,
                        (((n * x[1] + iz) * x[2] + iy) * x[3] + ix) * channels + c);
                }
}

}  // namespace

void sliding_max_pool(const Call& call) {
  const Array &x = call.inputs[0], &y = call.outputs[0], &taps = call.outputs[1];
  std::fill_n(y.data, y.shape.count(), -std::numeric_limits<double>::infinity());
  std::fill_n(taps.data, y.shape.count(), -1.0);
  for_each_tap(x.shape, y.shape, kernel_axes(call.attributes),
               [&](std::int64_t out, std::int64_t tap, std::int64_t in) {
                 if (taps.data[out] >= 0 && !(x.data[in] > y.data[out])) return;
                 y.data[out] = x.data[in];
                 taps.data[out] = static_cast<double>(tap);
               });
}

void sliding_max_pool_gradient(const Call& call) {
  const Array &dy = call.inputs[0], &taps = call.inputs[1], &dx = call.outputs[0];
  std::fill_n(dx.data, dx.shape.count(), 0.0);
  for_each_tap(dx.shape, dy.shape, kernel_axes(call.attributes),
               [&](std::int64_t out, std::int64_t tap, std::int64_t in) {
                 if (taps.data[out] == static_cast<double>(tap)) dx.data[in] += dy.data[out];
               });
}

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

// Linear interpolation, average pooling, and the gradients of both.

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
