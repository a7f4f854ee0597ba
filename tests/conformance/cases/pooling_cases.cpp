// Cases of pooling (net/ops/pooling.cpp).
#include "net/graph/axes.h"
#include "tests/conformance/cases/cases.h"

namespace voxswap::net::cases {

namespace {

OperationCase forward(std::string name, Shape x, double over, Fill fill = Fill::normal) {
  return {std::move(name), {activation(std::move(x), fill)}, {{"voxels", over}}, {}};
}

OperationCase backward(std::string name, std::int64_t samples, std::int64_t channels, double d, double h,
                       double w) {
  return {std::move(name),
          {activation({samples, 1, 1, 1, channels})},
          {{"d", d}, {"h", h}, {"w", w}, {"voxels", d * h * w}},
          {}};
}

OperationCase everywhere(std::string name, std::int64_t channels, double d, double w) {
  OperationCase example = backward(std::move(name), 2, channels, d, 1, w);
  example.attributes.set("voxels", 1);
  return example;
}

Shape halved(const Shape& x) {
  return {x[0], x[1] / 2, x[2] / 2, x[3] / 2, x[4]};
}

Cases cases_max_pool(bool backward) {
  const std::vector<std::pair<std::string, Shape>> volumes = {
      {"one block", {1, 2, 2, 2, 1}},
      {"odd channels, batch of two", {2, 4, 6, 10, 3}},
      {"20 channels", {1, 6, 2, 8, 20}},
      {"64 channels", {1, 4, 6, 4, 64}},
  };
  Cases result;
  for (const auto& [name, x] : volumes) {
    result.push_back({name, {activation(x)}, {}, {}});
    if (backward) result.back().inputs.push_back(activation(halved(x)));
  }
  return result;
}

Cases cases_sliding_max_pool(bool backward) {
  struct Example {
    std::string name;
    Shape x;
    KernelAxes axes;
  };
  const std::vector<Example> examples = {
      {"one voxel", {1, 1, 1, 1, 3}, square(3, 2, 1)},
      {"image, 3x3, stride 2, odd channels, batch of two", {2, 1, 7, 8, 5}, square(3, 2, 1)},
      {"image, 3x3, stride 2, 64 channels", {1, 1, 10, 9, 64}, square(3, 2, 1)},
      {"image, 3x3, stride 1", {1, 1, 5, 6, 16}, square(3, 1, 1)},
      {"image, 2x2, stride 2, some is left over", {1, 1, 5, 7, 20}, square(2, 2, 0)},
      {"image, 3x3, stride 3, 24 channels", {1, 1, 9, 10, 24}, square(3, 3, 0)},
      {"volume, stride 2", {1, 5, 6, 7, 3}, cube(3, 2, 1)},
      {"volume of flat kernels", {2, 3, 6, 5, 16}, square(3, 2, 1)},
      {"image of rows as planes, 3x3, stride 2, odd channels", {2, 9, 1, 7, 5}, of_rows(3, 2, 1)},
      {"image of rows as planes, 3x3, stride 2, 64 channels", {1, 14, 1, 5, 64}, of_rows(3, 2, 1)},
  };
  Cases result;
  for (const auto& [name, x, axes] : examples) {
    Attributes attributes = attributes_of(axes);
    set_kernel(attributes, axes);
    if (!backward) {
      result.push_back({name, {activation(x)}, attributes, {}});
      continue;
    }
    const Shape y = output_shape(x, axes, x[4]);
    attributes.set("d", static_cast<double>(x[1]));
    attributes.set("h", static_cast<double>(x[2]));
    attributes.set("w", static_cast<double>(x[3]));
    result.push_back({name, {activation(y), tap_numbers(y)}, attributes, {}});
  }
  return result;
}

}  // namespace

Cases average_pool() {
  return {forward("one voxel", {1, 1, 1, 1, 3}, 1),
          forward("odd channels, batch of two", {2, 3, 5, 7, 5}, 105),
          forward("image, 64 channels", {2, 1, 7, 9, 64}, 63),
          forward("image of rows as planes, the sum", {2, 9, 1, 8, 16}, 1),
          forward("20 channels, positive", {1, 1, 33, 35, 20}, 1155, Fill::positive)};
}

Cases average_pool_gradient() {
  return {backward("one voxel", 1, 3, 1, 1, 1), backward("odd channels, batch of two", 2, 5, 3, 5, 7),
          backward("image, 64 channels", 2, 64, 1, 7, 9), backward("20 channels", 1, 20, 1, 3, 4),
          everywhere("the voxel everywhere in an image of rows as planes", 16, 7, 5)};
}

Cases max_pool() {
  return cases_max_pool(false);
}

Cases max_pool_gradient() {
  return cases_max_pool(true);
}

Cases sliding_max_pool() {
  return cases_sliding_max_pool(false);
}

Cases sliding_max_pool_gradient() {
  return cases_sliding_max_pool(true);
}

}  // namespace voxswap::net::cases
