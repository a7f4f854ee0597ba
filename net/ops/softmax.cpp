// One of several classes per voxel: soft-max over the channels, and the cross entropy of it. Of a classifier
// of images the volume is one voxel.
#include "net/ops/ops.h"

namespace voxswap::net::ops {

namespace {

void check_target(const Graph& graph, ValueId logits, ValueId target) {
  const Shape& x = shape_of(graph, logits);
  assert(x.rank() == 5 && graph.value(target).type == ElementType::u8);
  assert(shape_of(graph, target) == (Shape{x[0], x[1], x[2], x[3]}));
}

std::vector<ValueSpec> infer_loss(const Graph& graph, const std::vector<ValueId>& inputs,
                                  const Attributes& attributes) {
  assert(inputs.size() == 2 && attributes.integer("count") > 0);
  static_cast<void>(attributes);
  check_target(graph, inputs[0], inputs[1]);
  return {{{1}, full_type(graph, inputs[0])}};
}

std::vector<ValueSpec> infer_gradient(const Graph& graph, const std::vector<ValueId>& inputs,
                                      const Attributes& attributes) {
  assert(inputs.size() == 3 && shape_of(graph, inputs[2]) == Shape{1} && attributes.integer("count") > 0);
  check_target(graph, inputs[0], inputs[1]);
  return like(graph, inputs[0]);
}

std::vector<ValueId> gradient(Graph& graph, NodeId id, std::span<const ValueId> output_gradients,
                              const std::vector<bool>& wanted) {
  const Node node = graph.node(id);
  if (!wanted[0]) return {none, none};
  return {graph.apply("softmax_cross_entropy_gradient", node.name + ".gradient",
                      {node.inputs[0], node.inputs[1], output_gradients[0]}, node.attributes),
          none};
}

std::vector<OperationCase> cases(bool backward) {
  const std::vector<std::pair<std::string, Shape>> volumes = {
      {"one voxel, 3 classes", {1, 1, 1, 1, 3}},    {"images, 1000 classes", {3, 1, 1, 1, 1000}},
      {"batch of two, 5 classes", {2, 1, 7, 9, 5}}, {"21 classes", {1, 1, 30, 35, 21}},
      {"volume, two classes", {1, 5, 6, 7, 2}},
  };
  std::vector<OperationCase> result;
  for (const auto& [name, x] : volumes) {
    const double batches = x[0] == 2 ? 3 : 1;
    const Attributes attributes = {{"count", batches * static_cast<double>(x[0] * voxels(x))}};
    result.push_back({name, {full(x), classes({x[0], x[1], x[2], x[3]})}, attributes, {}});
    if (backward) result.back().inputs.push_back(full({1}));
  }
  return result;
}

}  // namespace

// x -> y; over x. y_c = exp(x_c - m) / sum exp(x_k - m), m the largest x of the voxel.
const Operation& softmax() {
  static const Operation operation = {"softmax",
                                      like_first,
                                      nullptr,
                                      per_element<10>,
                                      {{0, 0}},
                                      /*cheap=*/false,
                                      planewise,
                                      {{"one voxel, one class", {full({1, 1, 1, 1, 1})}, {}, {}},
                                       {"images, 1000 classes", {full({3, 1, 1, 1, 1000})}, {}, {}},
                                       {"21 classes", {full({1, 1, 30, 35, 21})}, {}, {}},
                                       {"volume, batch of two", {full({2, 3, 4, 5, 3})}, {}, {}}}};
  return operation;
}

// logits full, target u8[N,D,H,W] (a class) -> [1] full: the sum over all voxels of log sum exp(x_k) -
// x_target, and 0 where the target is none of the classes, over count; in double, a sum over count for every
// plane, and those added plane after plane. Attribute count: voxels of all samples of the batch, of which
// these may be a part: their sums are the mean.
const Operation& softmax_cross_entropy() {
  static const Operation operation = {"softmax_cross_entropy",
                                      infer_loss,
                                      gradient,
                                      per_element<10>,
                                      {},
                                      /*cheap=*/false,
                                      summed("cross_entropy_plane_sums", "add_planes"),
                                      cases(false)};
  return operation;
}

// logits, target, dloss[1] -> dlogits; over logits. dloss / count (soft-max - 1 of the target); 0 where the
// target is none of the classes. Attribute count: voxels of all samples of the batch.
const Operation& softmax_cross_entropy_gradient() {
  static const Operation operation = {"softmax_cross_entropy_gradient",
                                      infer_gradient,
                                      nullptr,
                                      per_element<12>,
                                      {{0, 0}},
                                      /*cheap=*/false,
                                      planewise,
                                      cases(true)};
  return operation;
}

}  // namespace voxswap::net::ops
