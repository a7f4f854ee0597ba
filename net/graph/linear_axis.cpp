#include "net/graph/linear_axis.h"

#include <algorithm>

namespace voxswap::net {

namespace {

// Binary search: the first output for which `after` is true.
template <class After>
std::int64_t first_for_which(std::int64_t outputs, After after) {
  std::int64_t low = 0, high = outputs;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (after(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

}  // namespace

LinearAxis::Between LinearAxis::between(std::int64_t output) const {
  const double ratio = static_cast<double>(side) / static_cast<double>(outputs);
  const double at = std::max((static_cast<double>(output) + 0.5) * ratio - 0.5, 0.0);
  const std::int64_t low = std::min(static_cast<std::int64_t>(at), side - 1);
  return {low, std::min(low + 1, side - 1), at - static_cast<double>(low)};
}

LinearAxis::Between LinearAxis::between_here(std::int64_t output) const {
  Between result = between(output + first_output);
  result.low -= first_side;
  result.high -= first_side;
  return result;
}

LinearAxis::Range LinearAxis::outputs_of(std::int64_t from, std::int64_t to) const {
  return {first_for_which(outputs, [&](std::int64_t o) { return between(o).high >= from; }),
          first_for_which(outputs, [&](std::int64_t o) { return between(o).low >= to; })};
}

LinearAxis linear_depth(const Attributes& attributes, const Shape& x, const Shape& y) {
  return {attributes.integer_or("x_depth", x[1]), attributes.integer_or("y_depth", y[1]),
          attributes.integer_or("x_first", 0), attributes.integer_or("y_first", 0)};
}

}  // namespace voxswap::net
