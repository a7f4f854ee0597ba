// Pooling: the maximum of blocks, the maximum under a sliding kernel, and the average.
#include <algorithm>
#include <limits>

#include "net/backends/reference/kernels.h"
#include "net/graph/axes.h"

namespace voxswap::net::reference {

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

// The average over the whole volume, and its gradient.
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
