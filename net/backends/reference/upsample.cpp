// Nearest-neighbour upsampling to twice the sides, and its gradient.
#include <algorithm>

#include "net/backends/reference/blocks.h"
#include "net/backends/reference/kernels.h"

namespace voxswap::net::reference {

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

}  // namespace voxswap::net::reference
