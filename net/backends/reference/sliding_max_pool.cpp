// Sliding max pooling. Its gradient goes to the first maximum in scan order.
#include <algorithm>
#include <limits>

#include "net/backends/reference/kernels.h"
#include "net/graph/kernel_axes.h"

namespace voxswap::net::reference {

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

}  // namespace voxswap::net::reference
