// Cases of concatenation, split and zero padding (net/ops/concat.cpp).
#include "tests/conformance/cases/cases.h"

namespace voxswap::net::cases {

namespace {

Shape with_side(Shape shape, int axis, std::int64_t side) {
  shape[axis] = side;
  return shape;
}

OperationCase concat_case(std::string name, const Shape& a, int axis, std::int64_t side) {
  return {std::move(name),
          {activation(a), activation(with_side(a, axis, side))},
          {{"axis", static_cast<double>(axis)}},
          {}};
}

OperationCase split_case(std::string name, Shape x, int axis, double count) {
  return {std::move(name),
          {activation(std::move(x))},
          {{"axis", static_cast<double>(axis)}, {"count", count}},
          {}};
}

OperationCase zero_pad_case(std::string name, Shape x, double axis, double side) {
  return {std::move(name), {activation(std::move(x))}, {{"axis", axis}, {"side", side}}, {}};
}

}  // namespace

Cases concat() {
  return {concat_case("odd channels, batch of two", {2, 3, 4, 5, 3}, 4, 5),
          concat_case("channels, 16 and 16", {1, 5, 6, 7, 16}, 4, 16),
          concat_case("channels, one and 32", {1, 2, 3, 5, 1}, 4, 32),
          concat_case("input channels of weights", {16, 16, 3, 3, 3}, 1, 16),
          concat_case("input channels of weights, odd", {3, 5, 1, 1, 1}, 1, 2),
          concat_case("samples", {2, 3, 4, 5, 3}, 0, 1)};
}

Cases split() {
  return {split_case("channels in half", {1, 5, 6, 7, 32}, 4, 16),
          split_case("odd channels, batch of two", {2, 3, 4, 5, 8}, 4, 3),
          split_case("all but one channel", {1, 3, 2, 5, 5}, 4, 4),
          split_case("input channels of weights", {16, 32, 3, 3, 3}, 1, 16),
          split_case("input channels of weights, odd", {3, 7, 1, 1, 1}, 1, 5),
          split_case("samples", {3, 3, 4, 5, 3}, 0, 2)};
}

Cases zero_pad() {
  return {zero_pad_case("input channels of weights, 4 to 8", {16, 4, 3, 3, 3}, 1, 8),
          zero_pad_case("input channels of weights, odd", {3, 5, 1, 1, 1}, 1, 7),
          zero_pad_case("channels, odd, batch of two", {2, 3, 4, 5, 3}, 4, 8),
          zero_pad_case("samples", {2, 3, 4, 5, 3}, 0, 3)};
}

}  // namespace voxswap::net::cases
