// Channels of two volumes side by side, and a slice of them.
#include <algorithm>

#include "net/backends/reference/kernels.h"

namespace voxswap::reference {

namespace {

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

}  // namespace voxswap::reference
