// Operations that move elements about: channels joined and cut, sides doubled and halved.
#include <algorithm>
#include <limits>

#include "net/backends/reference/kernels.h"

namespace voxswap::reference {

namespace {

// Calls visit(fine, coarse) for every element of a fine N,D,H,W,C array and the element of the array of half
// the sides whose 2x2x2 block it lies in; fine ones in scan order.
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

// Copies `count` channels of every voxel, from channel `from_start` on to channel `to_start` on.
void copy_channels(const Array& from, std::int64_t from_start, const Array& to, std::int64_t to_start,
                   std::int64_t count) {
  const std::int64_t from_channels = from.shape[-1], to_channels = to.shape[-1];
  for (std::int64_t v = 0; v < from.shape.count() / from_channels; ++v) {
    std::copy_n(from.data + v * from_channels + from_start, count, to.data + v * to_channels + to_start);
  }
}

}  // namespace

void concat(const Call& call) {
  const Array &a = call.inputs[0], &b = call.inputs[1];
  copy_channels(a, 0, call.outputs[0], 0, a.shape[-1]);
  copy_channels(b, 0, call.outputs[0], a.shape[-1], b.shape[-1]);
}

void channel_slice(const Call& call) {
  copy_channels(call.inputs[0], call.attributes.integer("start"), call.outputs[0], 0,
                call.attributes.integer("count"));
}

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

}  // namespace voxswap::reference
