// Cases of instance normalisation (net/ops/norm.cpp).
#include "tests/conformance/cases/cases.h"

namespace voxswap::net::cases {

namespace {

struct Example {
  std::string name;
  Shape x;
  double slope;
  bool scale, residual, batch = false;
};

const std::vector<Example>& examples() {
  static const std::vector<Example> list = {
      {"one voxel", {1, 1, 1, 1, 3}, 0.3, false, false},
      {"odd channels", {1, 3, 5, 4, 5}, 0.3, false, false},
      {"batch of two, scale", {2, 3, 4, 5, 3}, 0.3, true, false},
      {"batch of two, scale, residual, 20 channels", {2, 3, 4, 5, 20}, 0.01, true, true},
      {"residual, 16 channels", {1, 7, 5, 9, 16}, 0.3, false, true},
      {"scale, 16 channels", {1, 7, 6, 5, 16}, 0.3, true, false},
      {"ReLU, 32 channels", {1, 4, 6, 8, 32}, 0, false, false},
      {"32 channels, batch of two, residual", {2, 4, 3, 5, 32}, 0.3, false, true},
      {"identity activation, 4 channels", {1, 6, 5, 7, 4}, 1, false, false},
      {"256 channels, few voxels", {1, 2, 3, 2, 256}, 0.3, true, true},
      {"batch norm, images, residual", {3, 1, 5, 7, 16}, 1, false, true, true},
      {"batch norm, ReLU, odd channels", {2, 2, 5, 3, 5}, 0, false, false, true},
  };
  return list;
}

std::vector<Input> norm_inputs(const Shape& x) {
  return {activation(x), full({x[0], x[4], 2}, Fill::statistics), full({x[4]}), full({x[4]})};
}

Attributes example_attributes(const Example& e) {
  return {{"slope", e.slope}, {"has_scale", e.scale ? 1.0 : 0.0}};
}

// Cases for both passes of the gradient. The second reads the sums of the first.
Cases cases_backward(bool with_sums) {
  Cases cases;
  for (const Example& e : examples()) {
    OperationCase example{e.name, norm_inputs(e.x), example_attributes(e), {}};
    example.inputs.push_back(activation(e.x));
    if (with_sums) example.inputs.push_back(full({e.x[0], e.x[4], 2}));
    if (with_sums) example.attributes.set("voxels", static_cast<double>(voxels(e.x)));
    if (e.scale) example.inputs.push_back(full({e.x[0], e.x[4]}, Fill::positive));
    cases.push_back(std::move(example));
    if (!with_sums || e.scale) continue;
    cases.push_back(cases.back());
    cases.back().name += ", slab of a larger volume";
    cases.back().attributes.set("voxels", 3.0 * static_cast<double>(voxels(e.x)));
  }
  return cases;
}

OperationCase example(std::string name, Shape x, Fill fill = Fill::normal) {
  return {std::move(name), {activation(std::move(x), fill)}, {{"epsilon", 1e-5}}, {}};
}

}  // namespace

Cases norm_activation() {
  Cases cases;
  for (const Example& e : examples()) {
    OperationCase example{e.name, norm_inputs(e.x), example_attributes(e), {}};
    example.attributes.set("has_residual", e.residual);
    if (e.batch) example.attributes.set("batch", 1);
    if (e.scale) example.inputs.push_back(full({e.x[0], e.x[4]}, Fill::positive));
    if (e.residual) example.inputs.push_back(activation(e.x));
    cases.push_back(std::move(example));
  }
  return cases;
}

Cases norm_activation_sums() {
  return cases_backward(false);
}

Cases norm_activation_plane_sums() {
  return norm_activation_sums();
}

Cases norm_activation_gradient() {
  return cases_backward(true);
}

Cases norm_parameter_gradient() {
  return {{"one sample", {full({1, 16, 2})}, {}, {}},
          {"three samples, odd channels", {full({3, 5, 2})}, {}, {}}};
}

Cases instance_norm_statistics() {
  return {example("one voxel", {1, 1, 1, 1, 3}),
          example("odd channels, batch of two", {2, 3, 5, 4, 5}),
          example("16 channels, unequal sides", {1, 9, 7, 11, 16}),
          example("20 channels", {2, 4, 3, 6, 20}),
          example("32 channels, positive: mean far from 0", {1, 6, 8, 10, 32}, Fill::positive),
          example("3 channels, positive", {1, 12, 13, 14, 3}, Fill::positive),
          example("256 channels, few voxels", {1, 2, 2, 3, 256})};
}

Cases plane_moments() {
  return instance_norm_statistics();
}

}  // namespace voxswap::net::cases
