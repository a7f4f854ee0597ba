// Cases of the soft-max and the losses of exclusive classes (net/ops/softmax.cpp).
#include "tests/conformance/cases/cases.h"

namespace voxswap::net::cases {

namespace {

Cases softmax_loss_volume(bool backward) {
  struct Volume {
    std::string name;
    Shape x;
    std::int64_t bytes = 1;  // per voxel
  };
  const std::vector<Volume> volumes = {
      {"3 classes", {1, 7, 5, 6, 3}},
      {"9 classes, batch of two", {2, 3, 4, 5, 9}},
      {"2 classes, one voxel", {1, 1, 1, 1, 2}},
      {"117 classes", {1, 2, 5, 7, 117}},
      {"2 classes, planes of several blocks", {1, 2, 70, 75, 2}},
      {"900 classes, of two bytes", {2, 1, 3, 5, 900}, 2},
  };
  Cases result;
  const auto add = [&](const std::string& name, const Shape& x, const Attributes& attributes,
                       std::int64_t bytes = 1) {
    result.push_back({name, {full(x), classes(target_shape(x, bytes))}, attributes, {}});
    if (backward) result.back().inputs.push_back(full({x[0], x[4], 4}));
  };
  for (const auto& [name, x, bytes] : volumes) add(name, x, {}, bytes);
  add("smoothed", {2, 3, 4, 5, 4}, {{"smoothing", 0.1}});
  add("focal", {1, 7, 5, 6, 3}, {{"focus", 2}});
  add("focal of a broken power, smoothed", {1, 3, 4, 5, 9}, {{"focus", 0.5}, {"smoothing", 0.2}});
  return result;
}

}  // namespace

Cases softmax_loss_sums() {
  return softmax_loss_volume(false);
}

Cases softmax_loss_plane_sums() {
  return softmax_loss_volume(false);
}

Cases softmax_loss_sums_gradient() {
  return softmax_loss_volume(true);
}

Cases softmax() {
  return {{"one voxel, one class", {full({1, 1, 1, 1, 1})}, {}, {}},
          {"images, 1000 classes", {full({3, 1, 1, 1, 1000})}, {}, {}},
          {"21 classes", {full({1, 1, 30, 35, 21})}, {}, {}},
          {"volume, batch of two", {full({2, 3, 4, 5, 3})}, {}, {}}};
}

}  // namespace voxswap::net::cases
