// Cases of losses of labels (net/ops/loss.cpp).
#include "net/graph/loss_terms.h"
#include "tests/conformance/cases/cases.h"

namespace voxswap::net::cases {

namespace {

Cases loss_volume(bool backward) {
  const std::vector<std::pair<std::string, Shape>> volumes = {
      {"3 labels", {1, 7, 5, 6, 3}},
      {"8 labels, batch of two", {2, 3, 4, 5, 8}},
      {"one label, one voxel", {1, 1, 1, 1, 1}},
      {"2 labels, longer", {1, 12, 13, 11, 2}},
      {"9 labels, two bytes of a voxel", {1, 3, 5, 6, 9}},
      {"32 labels, batch of two", {2, 2, 5, 7, 32}},
      {"117 labels", {1, 2, 5, 7, 117}},
  };
  Cases result;
  const auto add = [&](const std::string& name, const Shape& x, const Attributes& attributes) {
    result.push_back(
        {name, {full(x), bits(target_shape(x, LossTerms(attributes).target_bytes(x[4])))}, attributes, {}});
    if (backward) result.back().inputs.push_back(full({x[0], x[4], LossTerms(attributes).kinds()}));
  };
  for (const auto& [name, x] : volumes) add(name, x, {});
  const Shape x = {2, 9, 13, 11, 3};
  add("smoothed", x, {{"smoothing", 0.1}});
  add("focal, some ignored", x, {{"focus", 2}, {"unknown", 1}});
  add("8 labels, some ignored by a bit of the second byte", {1, 3, 5, 6, 8}, {{"unknown", 1}});
  add("some outputs of some voxels unknown", x, {{"unknown", 2}});
  add("5 labels, smoothed, some unknown, batch of two", {2, 3, 5, 6, 5},
      {{"unknown", 2}, {"smoothing", 0.2}});
  add("17 labels, some unknown", {1, 2, 5, 7, 17}, {{"unknown", 2}});
  add("focal of a broken power, smoothed, 7 labels", {1, 5, 9, 11, 7}, {{"focus", 0.5}, {"smoothing", 0.2}});
  return result;
}

Cases cases_value(bool backward) {
  struct Example {
    std::string name;
    Shape sums;
    double dice, cross_entropy, first, count;
    double counted_by = 0;
    std::vector<double> weights{};
  };
  const std::vector<Example> examples = {
      {"Dice, 3 labels", {1, 3, 4}, 1, 0, 0, 3000},
      {"Dice and cross entropy, batch of two", {2, 3, 4}, 1, 1, 0, 180},
      {"cross entropy, one label", {1, 1, 4}, 0, 0.5, 0, 7},
      {"Dice and cross entropy, 4 classes, batch of two", {2, 4, 4}, 1, 1, 1, 60},
      {"cross entropy, one class", {3, 1, 4}, 0, 1, 1, 1},
      {"weights of labels", {2, 3, 4}, 1, 1, 0, 180, 0, {0.5, 2, 3}},
      {"weights of classes, counted", {2, 3, 4}, 1, 1, 1, 60, 1, {0.2, 2, 3}},
      {"labels, counted", {2, 3, 5}, 1, 1, 0, 180, 4},
  };
  Cases result;
  for (const Example& e : examples) {
    LossWeights weights;
    weights.dice = e.dice;
    weights.cross_entropy = e.cross_entropy;
    weights.first = static_cast<std::int64_t>(e.first);
    weights.count = e.count;
    weights.counted_by = static_cast<int>(e.counted_by);
    weights.of_output = e.weights;
    result.push_back({e.name, {full(e.sums, Fill::positive)}, weights.attributes(), {}});
    if (backward) result.back().inputs.push_back(full({1}));
  }
  return result;
}

}  // namespace

Cases loss_sums() {
  return loss_volume(false);
}

Cases loss_plane_sums() {
  return loss_sums();
}

Cases loss_value() {
  return cases_value(false);
}

Cases loss_value_gradient() {
  return cases_value(true);
}

Cases loss_sums_gradient() {
  return loss_volume(true);
}

}  // namespace voxswap::net::cases
