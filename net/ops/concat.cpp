// Two volumes side by side in the channels, and the slice of channels that is its gradient.
#include "net/ops/ops.h"

namespace voxswap::ops {

namespace {

Shape with_channels(Shape shape, std::int64_t channels) {
  shape[-1] = channels;
  return shape;
}

std::vector<ValueSpec> infer_concat(const Graph& graph, const std::vector<ValueId>& inputs,
                                    const Attributes&) {
  assert(inputs.size() == 2 && graph.value(inputs[0]).type == graph.value(inputs[1]).type);
  const Shape &a = shape_of(graph, inputs[0]), &b = shape_of(graph, inputs[1]);
  assert(with_channels(a, b[-1]) == b);
  return {{with_channels(a, a[-1] + b[-1]), graph.value(inputs[0]).type}};
}

std::vector<ValueSpec> infer_slice(const Graph& graph, const std::vector<ValueId>& inputs,
                                   const Attributes& attributes) {
  assert(inputs.size() == 1);
  const Shape& x = shape_of(graph, inputs[0]);
  const std::int64_t start = attributes.integer("start"), count = attributes.integer("count");
  assert(start >= 0 && count > 0 && start + count <= x[-1]);
  return {{with_channels(x, count), graph.value(inputs[0]).type}};
}

std::vector<ValueId> gradient(Graph& graph, NodeId id, std::span<const ValueId> output_gradients,
                              const std::vector<bool>& wanted) {
  const Node node = graph.node(id);
  std::vector<ValueId> gradients(2, none);
  double start = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const double count = static_cast<double>(shape_of(graph, node.inputs[i])[-1]);
    if (wanted[i])
      gradients[i] = graph.apply("channel_slice", format("{}.slice_{}", node.name, i), {output_gradients[0]},
                                 {{"start", start}, {"count", count}});
    start += count;
  }
  return gradients;
}

OperationCase concat_case(std::string name, Shape a, std::int64_t channels) {
  const Shape b = with_channels(a, channels);
  return {std::move(name), {activation(std::move(a)), activation(b)}, {}, {}};
}

OperationCase slice_case(std::string name, Shape x, double start, double count) {
  return {std::move(name), {activation(std::move(x))}, {{"start", start}, {"count", count}}, {}};
}

}  // namespace

const Operation& concat() {
  static const Operation operation = {
      "concat",
      "a[…,Ca], b[…,Cb] -> […,Ca+Cb]",
      infer_concat,
      gradient,
      nullptr,
      {},
      /*cheap=*/true,
      {concat_case("odd channels, batch of two", {2, 3, 4, 5, 3}, 5),
       concat_case("16 and 16", {1, 5, 6, 7, 16}, 16), concat_case("20 and 4", {1, 3, 5, 4, 20}, 4),
       concat_case("one and 32", {1, 2, 3, 5, 1}, 32)}};
  return operation;
}

const Operation& channel_slice() {
  static const Operation operation = {
      "channel_slice",
      "x -> x[…, start : start+count]",
      infer_slice,
      nullptr,
      nullptr,
      {},
      /*cheap=*/true,
      {slice_case("first half", {1, 5, 6, 7, 32}, 0, 16), slice_case("second half", {1, 5, 6, 7, 32}, 16, 16),
       slice_case("odd, batch of two", {2, 3, 4, 5, 8}, 3, 5),
       slice_case("one channel", {1, 3, 2, 5, 5}, 4, 1), slice_case("all", {1, 2, 3, 2, 20}, 0, 20)}};
  return operation;
}

}  // namespace voxswap::ops
