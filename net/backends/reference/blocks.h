// The 2x2x2 blocks of upsampling and max pooling.
#pragma once

#include <cstdint>

#include "base/shape.h"

namespace voxswap::net::reference {

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

}  // namespace voxswap::net::reference
