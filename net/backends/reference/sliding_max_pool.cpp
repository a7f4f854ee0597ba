// The maximum under a sliding kernel, and its gradient, which goes to the first maximum in scan order.
#include <algorithm>

#include "net/backends/reference/kernels.h"
#include "net/graph/kernel_axes.h"

namespace voxswap::net::reference {

namespace {

// Calls visit(element of y, element of x that is the first maximum under its kernel).
template <class Visit>
void for_each_maximum(const Array& x, const Shape& y, const KernelAxes& axes, Visit visit) {
  const auto& [along_z, along_y, along_x] = axes;
  const std::int64_t channels = x.shape[4];
  std::int64_t out = 0;
  for (std::int64_t n = 0; n < y[0]; ++n)
    for (std::int64_t oz = 0; oz < y[1]; ++oz)
      for (std::int64_t oy = 0; oy < y[2]; ++oy)
        for (std::int64_t ox = 0; ox < y[3]; ++ox)
          for (std::int64_t c = 0; c < channels; ++c, ++out) {
            std::int64_t first = -1;
            for (std::int64_t kz = along_z.first_tap(oz); kz < along_z.end_tap(oz, x.shape[1]); ++kz)
              for (std::int64_t ky = along_y.first_tap(oy); ky < along_y.end_tap(oy, x.shape[2]); ++ky)
                for (std::int64_t kx = along_x.first_tap(ox); kx < along_x.end_tap(ox, x.shape[3]); ++kx) {
                  const std::int64_t iz = along_z.start(oz) + kz, iy = along_y.start(oy) + ky,
                                     ix = along_x.start(ox) + kx;
                  const std::int64_t in =
                      (((n * x.shape[1] + iz) * x.shape[2] + iy) * x.shape[3] + ix) * channels + c;
                  if (first < 0 || x.data[in] > x.data[first]) first = in;
                }
            visit(out, first);
          }
}

}  // namespace

void sliding_max_pool(const Call& call) {
  const Array &x = call.inputs[0], &y = call.outputs[0];
  for_each_maximum(x, y.shape, kernel_axes(call.attributes),
                   [&](std::int64_t out, std::int64_t in) { y.data[out] = x.data[in]; });
}

void sliding_max_pool_gradient(const Call& call) {
  const Array &x = call.inputs[0], &dy = call.inputs[1], &dx = call.outputs[0];
  std::fill_n(dx.data, dx.shape.count(), 0.0);
  for_each_maximum(x, dy.shape, kernel_axes(call.attributes),
                   [&](std::int64_t out, std::int64_t in) { dx.data[in] += dy.data[out]; });
}

}  // namespace voxswap::net::reference
