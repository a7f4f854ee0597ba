// One axis of resize_linear (net/ops/resize_linear.cpp), from a side of x to a side of y. A node may hold
// only a range of planes: attributes x_depth and y_depth are the depths of the whole volumes, x_first and
// y_first the first planes held.
#pragma once

#include <cstdint>

#include "net/graph/value.h"

namespace voxswap::net {

struct LinearAxis {
  std::int64_t side = 1, outputs = 1;             // sides of the whole x and y
  std::int64_t first_side = 0, first_output = 0;  // first plane held

  // The two input positions between which an output position is interpolated, and the weight of `high`.
  struct Between {
    std::int64_t low, high;
    double of_high;
    bool operator==(const Between&) const = default;
  };
  Between between(std::int64_t output) const;  // in positions of the whole volumes
  Between between_here(std::int64_t output) const;

  // Output positions from <= o < to that read input positions from <= i < to. Empty if to <= from.
  struct Range {
    std::int64_t from, to;
  };
  Range outputs_of(std::int64_t from, std::int64_t to) const;
};

// The depth axis. `x` and `y` are the shapes held in the forward pass.
LinearAxis linear_depth(const Attributes& attributes, const Shape& x, const Shape& y);

}  // namespace voxswap::net
