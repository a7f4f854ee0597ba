// An axis along which resize_linear (net/ops/resize_linear.cpp) goes from one side to another, of which a
// node may have but a part: attributes x_depth and y_depth say how many planes the whole volumes have,
// x_first and y_first the first ones that are here.
#pragma once

#include <cstdint>

#include "net/graph/value.h"

namespace voxswap::net {

struct LinearAxis {
  std::int64_t side = 1, outputs = 1;             // of x, and of y, as a whole
  std::int64_t first_side = 0, first_output = 0;  // of what is here

  // The two places of x between which a place of y lies, and the weight of the second.
  struct Between {
    std::int64_t low, high;
    double of_high;
    bool operator==(const Between&) const = default;
  };
  Between between(std::int64_t output) const;  // of the whole
  Between between_here(std::int64_t output) const;

  // The places of y that have a share in those of x from <= i < to; none may have: then to is not above from.
  struct Range {
    std::int64_t from, to;
  };
  Range outputs_of(std::int64_t from, std::int64_t to) const;
};

// Along the depth. `x` and `y` are the volumes of the forward pass, as far as they are here.
LinearAxis linear_depth(const Attributes& attributes, const Shape& x, const Shape& y);

}  // namespace voxswap::net
