// Cases of convolutions of upsampled volumes (net/ops/upsampled_convolution.cpp).
#include "tests/conformance/cases/cases.h"

namespace voxswap::net::cases {

namespace {

constexpr std::int64_t phases = 8;

OperationCase weights_case(std::string name, std::int64_t outputs, std::int64_t inputs) {
  return {std::move(name), {full({outputs, inputs, 3, 3, 3})}, {}, {}};
}
OperationCase weights_gradient_case(std::string name, std::int64_t outputs, std::int64_t inputs) {
  return {std::move(name), {full({phases * outputs, inputs, 2, 2, 2})}, {}, {}};
}
OperationCase volume_case(std::string name, Shape shape) {
  return {std::move(name), {activation(std::move(shape))}, {}, {}};
}

}  // namespace

Cases upsampled_weights() {
  return {weights_case("one to one", 1, 1), weights_case("odd channels", 3, 5),
          weights_case("32 to 16", 16, 32)};
}

Cases upsampled_weights_gradient() {
  return {weights_gradient_case("one to one", 1, 1), weights_gradient_case("odd channels", 3, 5),
          weights_gradient_case("32 to 16", 16, 32)};
}

Cases interleave() {
  return {volume_case("one block", {1, 2, 2, 2, 8}),
          volume_case("odd channels, batch of two", {2, 3, 4, 6, 24}),
          volume_case("16 channels", {1, 4, 5, 6, 128}), volume_case("20 channels", {1, 5, 2, 4, 160})};
}

Cases interleave_gradient() {
  return {volume_case("one block", {1, 2, 2, 2, 1}),
          volume_case("odd channels, batch of two", {2, 4, 6, 10, 3}),
          volume_case("16 channels", {1, 6, 8, 10, 16}), volume_case("20 channels", {1, 8, 2, 6, 20})};
}

}  // namespace voxswap::net::cases
