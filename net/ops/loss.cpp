// Soft Dice (as in isensee2017) and binary cross entropy, in two steps: sums over the volume, then a number.
// So the gradient needs no more than the logits, the target and a few sums.
#include "net/ops/ops.h"

namespace voxswap::net::ops {

namespace {

std::vector<ValueSpec> infer_sums(const Graph& graph, const std::vector<ValueId>& inputs, const Attributes&) {
  assert(inputs.size() == 2);
  const Shape &logits = shape_of(graph, inputs[0]), &target = shape_of(graph, inputs[1]);
  assert(logits.rank() == 5 && graph.value(inputs[1]).type == ElementType::u8);
  assert(bytes_of_target(logits, target) == (logits[4] + 7) / 8);
  return {{{logits[0], logits[4], 4}, full_type(graph, inputs[0])}};
}

std::vector<ValueSpec> infer_value(const Graph& graph, const std::vector<ValueId>& inputs,
                                   const Attributes&) {
  assert(inputs.size() == 1 && shape_of(graph, inputs[0])[-1] == 4);
  return {{{1}, graph.value(inputs[0]).type}};
}

std::vector<ValueSpec> infer_value_gradient(const Graph& graph, const std::vector<ValueId>& inputs,
                                            const Attributes&) {
  assert(inputs.size() == 2 && shape_of(graph, inputs[1]) == Shape{1});
  return like(graph, inputs[0]);
}

std::vector<ValueSpec> infer_sums_gradient(const Graph& graph, const std::vector<ValueId>& inputs,
                                           const Attributes& attributes) {
  assert(inputs.size() == 3);
  assert(infer_sums(graph, {inputs[0], inputs[1]}, attributes)[0].shape == shape_of(graph, inputs[2]));
  return like(graph, inputs[0]);
}

std::vector<ValueId> gradient_sums(Graph& graph, NodeId id, std::span<const ValueId> output_gradients,
                                   const std::vector<bool>& wanted) {
  const Node node = graph.node(id);
  if (!wanted[0]) return {none, none};
  return {graph.apply("loss_sums_gradient", node.name + ".gradient",
                      {node.inputs[0], node.inputs[1], output_gradients[0]}),
          none};
}

std::vector<ValueId> gradient_value(Graph& graph, NodeId id, std::span<const ValueId> output_gradients,
                                    const std::vector<bool>&) {
  const Node node = graph.node(id);
  return {graph.apply("loss_value_gradient", node.name + ".gradient", {node.inputs[0], output_gradients[0]},
                      node.attributes)};
}

std::vector<OperationCase> cases_volume(bool backward) {
  const std::vector<std::pair<std::string, Shape>> volumes = {
      {"3 labels", {1, 7, 5, 6, 3}},
      {"8 labels, batch of two", {2, 3, 4, 5, 8}},
      {"one label, one voxel", {1, 1, 1, 1, 1}},
      {"2 labels, longer", {1, 12, 13, 11, 2}},
      {"9 labels, two bytes of a voxel", {1, 3, 5, 6, 9}},
      {"32 labels, batch of two", {2, 2, 5, 7, 32}},
      {"117 labels", {1, 2, 5, 7, 117}},
  };
  std::vector<OperationCase> result;
  for (const auto& [name, x] : volumes) {
    result.push_back({name, {full(x), bits(target_shape(x, (x[4] + 7) / 8))}, {}, {}});
    if (backward) result.back().inputs.push_back(full({x[0], x[4], 4}));
  }
  return result;
}

std::vector<OperationCase> cases_value(bool backward) {
  struct Example {
    std::string name;
    Shape sums;
    double dice, cross_entropy, first, count;
  };
  const std::vector<Example> examples = {
      {"Dice, 3 labels", {1, 3, 4}, 1, 0, 0, 3000},
      {"Dice and cross entropy, batch of two", {2, 3, 4}, 1, 1, 0, 180},
      {"cross entropy, one label", {1, 1, 4}, 0, 0.5, 0, 7},
      {"Dice and cross entropy, 4 classes, batch of two", {2, 4, 4}, 1, 1, 1, 60},
      {"cross entropy, one class", {3, 1, 4}, 0, 1, 1, 1},
  };
  std::vector<OperationCase> result;
  for (const Example& e : examples) {
    result.push_back({e.name,
                      {full(e.sums, Fill::positive)},
                      {{"dice", e.dice},
                       {"cross_entropy", e.cross_entropy},
                       {"epsilon", 1e-5},
                       {"first", e.first},
                       {"count", e.count}},
                      {}});
    if (backward) result.back().inputs.push_back(full({1}));
  }
  return result;
}

}  // namespace

// logits, target u8[N,D,H,W] or u8[N,D,H,W,B] (of the B bytes of a voxel, as many as it takes, bit c % 8 of
// byte c / 8: channel c) -> [N,C,4] full: sum t p, sum t, sum p, sum of binary cross entropy; p =
// sigmoid(logit); accumulate in double.
const Operation& loss_sums() {
  static const Operation operation = {"loss_sums",
                                      infer_sums,
                                      gradient_sums,
                                      per_element<12>,
                                      {},
                                      /*cheap=*/false,
                                      summed("loss_plane_sums", "add_planes"),
                                      cases_volume(false)};
  return operation;
}

// sums -> [1] full: dice * -mean over n and c >= first of (2 s0 + epsilon) / (s1 + s2 + epsilon) +
// cross_entropy * sum s3 / (N count). Attributes dice, cross_entropy, epsilon; first: the first channel of
// Dice, 1 where the one before is the background; count: the numbers of a sample that s3 is the sum of.
const Operation& loss_value() {
  static const Operation operation = {"loss_value",    infer_value, gradient_value,    per_element<2>, {},
                                      /*cheap=*/false, whole,       cases_value(false)};
  return operation;
}

// sums, dloss[1] -> dsums[N,C,4]; the column of sum t is 0: it depends on no logit.
const Operation& loss_value_gradient() {
  static const Operation operation = {"loss_value_gradient",
                                      infer_value_gradient,
                                      nullptr,
                                      per_element<4>,
                                      {},
                                      /*cheap=*/false,
                                      whole,
                                      cases_value(true)};
  return operation;
}

// logits, target, dsums -> dlogits; over logits. (dsums0 t + dsums2) p (1 - p) + dsums3 (p - t).
const Operation& loss_sums_gradient() {
  static const Operation operation = {
      "loss_sums_gradient", infer_sums_gradient, nullptr,           per_element<10>, {{0, 0}},
      /*cheap=*/false,      planewise,           cases_volume(true)};
  return operation;
}

}  // namespace voxswap::net::ops
