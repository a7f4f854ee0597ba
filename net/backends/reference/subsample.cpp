// The middle voxel of each block.
#include "net/backends/reference/kernels.h"

namespace voxswap::net::reference {

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

}  // namespace voxswap::net::reference
