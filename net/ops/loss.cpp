// Losses in two steps: sums over the volume, then the loss. So the gradient needs only the logits, the target
// and a few sums. The sums here are those for labels; those for exclusive classes are in softmax.cpp.
#include "net/graph/loss_terms.h"
#include "net/ops/ops.h"

namespace voxswap::net::ops {

// Soft Dice (as in isensee2017) and binary cross entropy of labels.

namespace {

Specs infer_loss_sums(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  assert(inputs.size() == 2);
  const Shape &logits = shape_of(graph, inputs[0]), &target = shape_of(graph, inputs[1]);
  const LossTerms terms(attributes);
  assert(logits.rank() == 5 && graph.value(inputs[1]).type == ElementType::u8);
  assert(bytes_of_target(logits, target) == terms.target_bytes(logits[4]));
  return {{{logits[0], logits[4], terms.kinds()}, full_type(graph, inputs[0])}};
}

Specs infer_loss_plane_sums(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  const Shape& x = shape_of(graph, inputs[0]);
  assert(x.rank() == 5);
  return {{{x[0], x[1], x[4], LossTerms(attributes).kinds()}, ElementType::f64}};
}

Specs infer_value(const Graph& graph, const Ids& inputs, const Attributes&) {
  assert(inputs.size() == 1 && shape_of(graph, inputs[0])[-1] >= 4);
  return {{{1}, graph.value(inputs[0]).type}};
}

Specs infer_value_gradient(const Graph& graph, const Ids& inputs, const Attributes&) {
  assert(inputs.size() == 2 && shape_of(graph, inputs[1]) == Shape{1});
  return like(graph, inputs[0]);
}

Specs infer_loss_sums_gradient(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  assert(inputs.size() == 3);
  assert(infer_loss_sums(graph, {inputs[0], inputs[1]}, attributes)[0].shape == shape_of(graph, inputs[2]));
  return like(graph, inputs[0]);
}

Ids gradient_loss_sums(Graph& graph, NodeId id, Gradients output_gradients, const Wanted& wanted) {
  const Node node = graph.node(id);
  if (!wanted[0]) return {none, none};
  return {graph.apply("loss_sums_gradient", node.name + ".gradient",
                      {node.inputs[0], node.inputs[1], output_gradients[0]}, node.attributes),
          none};
}

Ids gradient_value(Graph& graph, NodeId id, Gradients output_gradients, const Wanted&) {
  const Node node = graph.node(id);
  return {graph.apply("loss_value_gradient", node.name + ".gradient", {node.inputs[0], output_gradients[0]},
                      node.attributes)};
}

}  // namespace

// logits, target u8[N,D,H,W] or u8[N,D,H,W,B] (B bytes per voxel, as many as needed; bit c % 8 of byte c / 8:
// channel c) -> [N,C,4] full: sum t p, sum t, sum p, sum of binary cross entropy; p = sigmoid(logit);
// accumulated in double. With any of these attributes (net/graph/loss_terms.h) -> [N,C,5], the last the
// number of voxels. unknown 1: voxels whose bit C is set are excluded from all sums. unknown 2: voxels whose
// bit C + c is set are excluded from those of channel c. smoothing e and focus g: the cross entropy is -u (1
// - p)^g log p - (1 - u) p^g log(1 - p) with u = (1 - e) t + e / 2.
const Operation& loss_sums() {
  static const Operation operation = {"loss_sums", infer_loss_sums, gradient_loss_sums, per_element<12>,
                                      summed("loss_plane_sums", "add_planes")};
  return operation;
}

// like loss_sums -> [N,D,C,4] f64 (5 if loss_sums has 5): its sums for each plane.
const Operation& loss_plane_sums() {
  static const Operation operation = {"loss_plane_sums", infer_loss_plane_sums, nullptr, per_element<12>,
                                      whole};
  return operation;
}

// sums -> [1] full: dice * -mean over n and c >= first of (2 s0 + epsilon) / (s1 + s2 + epsilon) +
// cross_entropy * sum s3 / (N count). Attributes dice, cross_entropy, epsilon; first: the first channel in
// Dice, 1 if channel 0 is the background; count: terms per sample in s3. With weights w (weight.0, weight.1,
// …) the mean over c is weighted, and cross entropy takes sum w s3 / sum w for sum s3 / C. With counted_by k,
// the cross entropy of a sample is sum w s3 / sum w sk, or 0 if that sum is 0.
const Operation& loss_value() {
  static const Operation operation = {"loss_value", infer_value, gradient_value, per_element<2>, whole};
  return operation;
}

// sums, dloss[1] -> dsums[N,C,4]; the column of sum t is 0, because it depends on no logit.
const Operation& loss_value_gradient() {
  static const Operation operation = {"loss_value_gradient", infer_value_gradient, nullptr, per_element<4>,
                                      whole};
  return operation;
}

// logits, target, dsums -> dlogits; over logits. (dsums0 t + dsums2) p (1 - p) + dsums3 (p - t). With the
// attributes of the sums, p - t becomes (1 - u) p^g (p - g (1 - p) log(1 - p)) - u (1 - p)^g (1 - p - g p log
// p), and excluded voxels get 0.
const Operation& loss_sums_gradient() {
  static const Operation operation = {
      "loss_sums_gradient", infer_loss_sums_gradient, nullptr, per_element<10>, planewise, {{0, 0}}};
  return operation;
}

}  // namespace voxswap::net::ops
