// The maximum of every block, and its gradient, which goes to the first maximum in scan order.
#include <algorithm>
#include <limits>

#include "net/backends/reference/blocks.h"
#include "net/backends/reference/kernels.h"

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

}  // namespace voxswap::net::reference
