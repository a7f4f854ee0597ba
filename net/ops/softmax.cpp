// Soft-max over the channels, and the sums for the losses of mutually exclusive classes. loss_value
// (net/ops/loss.cpp) makes the loss from these sums.
#include "net/ops/ops.h"

namespace voxswap::net::ops {

// Sums for soft Dice and cross entropy of mutually exclusive classes (Isensee et al. 2021). For an image
// classifier the volume is one voxel.

namespace {

void check_target(const Graph& graph, const Ids& inputs) {
  [[maybe_unused]] const Shape &logits = shape_of(graph, inputs[0]), &target = shape_of(graph, inputs[1]);
  assert(logits.rank() == 5 && graph.value(inputs[1]).type == ElementType::u8);
  assert(bytes_of_target(logits, target) <= 2);
}

Specs infer_softmax_loss_sums(const Graph& graph, const Ids& inputs, const Attributes&) {
  assert(inputs.size() == 2);
  check_target(graph, inputs);
  const Shape& logits = shape_of(graph, inputs[0]);
  return {{{logits[0], logits[4], 4}, full_type(graph, inputs[0])}};
}

Specs infer_plane_sums(const Graph& graph, const Ids& inputs, const Attributes&) {
  assert(inputs.size() == 2);
  check_target(graph, inputs);
  const Shape& logits = shape_of(graph, inputs[0]);
  return {{{logits[0], logits[1], logits[4], 4}, ElementType::f64}};
}

Specs infer_softmax_loss_sums_gradient(const Graph& graph, const Ids& inputs, const Attributes&) {
  assert(inputs.size() == 3);
  check_target(graph, inputs);
  return like(graph, inputs[0]);
}

Ids gradient_softmax_loss_sums(Graph& graph, NodeId id, Gradients output_gradients, const Wanted& wanted) {
  const Node node = graph.node(id);
  if (!wanted[0]) return {none, none};
  return {graph.apply("softmax_loss_sums_gradient", node.name + ".gradient",
                      {node.inputs[0], node.inputs[1], output_gradients[0]}, node.attributes),
          none};
}

}  // namespace

// logits, target u8[N,D,H,W] (a class) or u8[N,D,H,W,2] (its low byte, then the high one) -> [N,C,4] full:
// sum t p, sum t, sum p, sum of -t log p; p = soft-max of the logits; accumulated in double. Voxels whose
// target is not a class are excluded. Attributes smoothing e and focus g, 0 when absent: the last sum is that
// of -u (1 - p)^g log p with u = (1 - e) t + e / C.
const Operation& softmax_loss_sums() {
  static const Operation operation = {"softmax_loss_sums", infer_softmax_loss_sums,
                                      gradient_softmax_loss_sums, per_element<14>,
                                      summed("softmax_loss_plane_sums", "add_planes")};
  return operation;
}

// like softmax_loss_sums -> [N,D,C,4] f64: its sums for each plane.
const Operation& softmax_loss_plane_sums() {
  static const Operation operation = {"softmax_loss_plane_sums", infer_plane_sums, nullptr, per_element<14>,
                                      whole};
  return operation;
}

// logits, target, dsums -> dlogits; over logits. p (q - sum_k p_k q_k) + d3 of the target (p - t), with q =
// d0 t + d2; 0 if the target is not a class. With the attributes of the sums, the second term is h - p sum_k
// h_k, h = -d3 u (1 - p)^g (1 - g p log p / (1 - p)).
const Operation& softmax_loss_sums_gradient() {
  static const Operation operation = {"softmax_loss_sums_gradient",
                                      infer_softmax_loss_sums_gradient,
                                      nullptr,
                                      per_element<14>,
                                      planewise,
                                      {{0, 0}}};
  return operation;
}

// Soft-max over the channels: probabilities of mutually exclusive classes of a voxel or an image.

// x -> y; over x. y_c = exp(x_c - m) / sum exp(x_k - m), m the largest x of the voxel.
const Operation& softmax() {
  static const Operation operation = {"softmax", like_first, nullptr, per_element<10>, planewise, {{0, 0}}};
  return operation;
}

}  // namespace voxswap::net::ops
