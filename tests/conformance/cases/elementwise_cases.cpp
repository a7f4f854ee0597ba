// Cases of elementwise operations, the constant and dropout (net/ops/elementwise.cpp).
#include "tests/conformance/cases/cases.h"

namespace voxswap::net::cases {

namespace {

OperationCase example(std::string name, const Shape& shape) {
  return {std::move(name), {activation(shape), activation(shape)}, {}, {}};
}

OperationCase to_f32(std::string name, Shape shape) {
  return {std::move(name), {activation(std::move(shape))}, {{"type", double(ElementType::f32)}}, {}};
}

Cases of_slopes(std::size_t volumes) {
  Cases result;
  const auto add_case = [&](std::string name, const Shape& shape, double slope) {
    result.push_back(
        {std::move(name), std::vector<Input>(volumes, activation(shape)), {{"slope", slope}}, {}});
  };
  add_case("ReLU, 16 channels", {1, 4, 5, 6, 16}, 0);
  add_case("odd channels, batch of two", {2, 3, 5, 7, 3}, 0.3);
  add_case("one element", {1, 1, 1, 1, 1}, 0.01);
  return result;
}

}  // namespace

Cases add() {
  return {example("16 channels", {1, 4, 5, 6, 16}), example("odd channels, batch of two", {2, 3, 5, 7, 3}),
          example("one element", {1, 1, 1, 1, 1})};
}

Cases cast() {
  return {to_f32("3 channels to f32", {1, 5, 6, 7, 3}),
          to_f32("16 channels, batch of two", {2, 3, 4, 5, 16})};
}

Cases constant() {
  return {{"one", {}, {{"value", 1}}, {}}, {"-0.1", {}, {{"value", -0.1}}, {}}};
}

Cases leaky_relu() {
  return of_slopes(1);
}

Cases leaky_relu_gradient() {
  return of_slopes(2);
}

Cases sigmoid() {
  return {{"3 labels", {activation({1, 4, 5, 6, 3})}, {}, {}},
          {"one label, batch of two", {activation({2, 3, 5, 7, 1})}, {}, {}}};
}

Cases sigmoid_gradient() {
  return {{"3 labels", {activation({1, 4, 5, 6, 3}, Fill::positive), activation({1, 4, 5, 6, 3})}, {}, {}},
          {"one label, batch of two",
           {activation({2, 3, 5, 7, 1}, Fill::positive), activation({2, 3, 5, 7, 1})},
           {},
           {}}};
}

Cases spatial_dropout_scale() {
  return {
      {"study's rate", {}, {{"n", 1}, {"c", 64}, {"rate", 0.3}, {"key", 0}}, {}},
      {"odd channels, batch of two, another key", {}, {{"n", 2}, {"c", 5}, {"rate", 0.5}, {"key", 7}}, {}},
      {"rate 0", {}, {{"n", 2}, {"c", 3}, {"rate", 0}, {"key", 1}}, {}}};
}

}  // namespace voxswap::net::cases
