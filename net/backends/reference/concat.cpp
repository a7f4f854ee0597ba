// Concatenation along an axis, split, its inverse, and zero padding.
#include <algorithm>

#include "net/backends/reference/kernels.h"

namespace voxswap::net::reference {

void concat(const Call& call) {
  const std::int64_t axis = call.attributes.integer("axis");
  const std::int64_t a = call.inputs[0].shape.count_from(axis), b = call.inputs[1].shape.count_from(axis);
  for (std::int64_t row = 0; row < call.inputs[0].shape.count() / a; ++row) {
    double* y = call.outputs[0].data + row * (a + b);
    std::copy_n(call.inputs[0].data + row * a, a, y);
    std::copy_n(call.inputs[1].data + row * b, b, y + a);
  }
}

void zero_pad(const Call& call) {
  const std::int64_t axis = call.attributes.integer("axis");
  const std::int64_t from = call.inputs[0].shape.count_from(axis),
                     to = call.outputs[0].shape.count_from(axis);
  std::fill_n(call.outputs[0].data, call.outputs[0].shape.count(), 0.0);
  for (std::int64_t row = 0; row < call.inputs[0].shape.count() / from; ++row)
    std::copy_n(call.inputs[0].data + row * from, from, call.outputs[0].data + row * to);
}

void split(const Call& call) {
  const std::int64_t axis = call.attributes.integer("axis");
  const std::int64_t a = call.outputs[0].shape.count_from(axis), b = call.outputs[1].shape.count_from(axis);
  for (std::int64_t row = 0; row < call.outputs[0].shape.count() / a; ++row) {
    const double* x = call.inputs[0].data + row * (a + b);
    std::copy_n(x, a, call.outputs[0].data + row * a);
    std::copy_n(x + a, b, call.outputs[1].data + row * b);
  }
}

}  // namespace voxswap::net::reference
