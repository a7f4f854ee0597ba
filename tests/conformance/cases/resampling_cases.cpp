// Cases of resampling (net/ops/resampling.cpp).
#include "tests/conformance/cases/cases.h"

namespace voxswap::net::cases {

namespace {

OperationCase example_upsample(std::string name, Shape shape) {
  return {std::move(name), {activation(std::move(shape))}, {}, {}};
}

OperationCase example_subsample(std::string name, Shape x, double d, double h, double w) {
  return {std::move(name), {classes(std::move(x))}, {{"d", d}, {"h", h}, {"w", w}}, {}};
}

// `from`: the shape of x, or of dy for the gradient.
OperationCase example_resize_linear(std::string name, Shape from, double d, double h, double w) {
  return {std::move(name), {activation(std::move(from))}, {{"d", d}, {"h", h}, {"w", w}}, {}};
}

Cases of_resizing() {
  return {example_resize_linear("one voxel, to many", {2, 1, 1, 1, 5}, 1, 4, 3),
          example_resize_linear("image, twice the sides", {1, 1, 3, 4, 16}, 1, 6, 8),
          example_resize_linear("image, eight times, odd channels", {2, 1, 2, 3, 3}, 1, 16, 24),
          example_resize_linear("image, uneven factors, 20 channels", {1, 1, 5, 4, 20}, 1, 13, 17),
          example_resize_linear("image, smaller", {1, 1, 12, 9, 16}, 1, 5, 7),
          example_resize_linear("the same sides", {1, 2, 3, 4, 3}, 2, 3, 4),
          example_resize_linear("image of rows as planes, eight times", {2, 4, 1, 3, 16}, 32, 1, 24),
          example_resize_linear("image of rows as planes, uneven factors", {1, 7, 1, 4, 3}, 17, 1, 9),
          example_resize_linear("volume", {1, 3, 4, 2, 5}, 7, 5, 6),
          example_resize_linear("volume, smaller along the depth alone", {1, 6, 3, 4, 16}, 2, 5, 4)};
}

}  // namespace

Cases upsample_nearest() {
  return {example_upsample("one voxel", {1, 1, 1, 1, 5}),
          example_upsample("odd channels, batch of two", {2, 2, 3, 5, 3}),
          example_upsample("16 channels", {1, 3, 4, 5, 16}),
          example_upsample("20 channels", {1, 4, 1, 3, 20}),
          example_upsample("32 channels", {1, 3, 2, 5, 32})};
}

Cases upsample_nearest_gradient() {
  return {example_upsample("one block", {1, 2, 2, 2, 5}),
          example_upsample("odd channels, batch of two", {2, 4, 6, 10, 3}),
          example_upsample("16 channels", {1, 6, 8, 10, 16}),
          example_upsample("20 channels", {1, 8, 2, 6, 20}),
          example_upsample("32 channels", {1, 6, 4, 10, 32})};
}

Cases subsample() {
  return {example_subsample("halves, batch of two", {2, 4, 6, 10}, 2, 2, 2),
          example_subsample("a block of one", {1, 3, 4, 5}, 1, 1, 1),
          example_subsample("planes kept", {1, 5, 8, 12}, 1, 2, 4),
          example_subsample("eighths and quarters", {1, 16, 8, 12}, 8, 4, 4),
          example_subsample("three bytes of a voxel", {2, 4, 4, 8, 3}, 2, 2, 4)};
}

Cases resize_linear() {
  return of_resizing();
}

Cases resize_linear_gradient() {
  return of_resizing();
}

}  // namespace voxswap::net::cases
