// windowed_…: the windowed version (net/graph/window.h) of each operation that is split with a window.
// Everything follows from the inner operation. Attributes slabs, skip and planes, and those of the inner
// operation. Behind it, the windows that operations read (net/ops/ops.h).
#include <algorithm>
#include <string>

#include "net/graph/axes.h"
#include "net/graph/window.h"
#include "net/ops/ops.h"

namespace voxswap::net::ops {

namespace {

template <const Operation& (*inner)()>
Specs infer(const Graph& graph, const Ids& inputs, const Attributes& attributes) {
  const Graph slab = slab_graph(graph, inner(), inputs, attributes);
  Specs specs;
  for (const ValueId id : slab.node(0).outputs) specs.push_back({slab.value(id).shape, slab.value(id).type});
  return specs;
}

template <const Operation& (*inner)()>
double flops(const Graph& graph, const Node& node) {
  const Graph slab = slab_graph(graph, inner(), node.inputs, node.attributes);
  return node_flops(slab, slab.node(0));
}

// Counts only the window, not the whole slabs.
template <const Operation& (*inner)()>
std::int64_t bytes(const Graph& graph, const Node& node) {
  const Graph slab = slab_graph(graph, inner(), node.inputs, node.attributes);
  return node_bytes(slab, slab.node(0));
}

std::vector<std::pair<int, int>> in_place(const Operation& inner) {
  std::vector<std::pair<int, int>> pairs;
  for (const auto& [output, input] : inner.in_place)
    if (!inner.cut.reads_window(static_cast<std::size_t>(input)))
      pairs.emplace_back(output, input > inner.cut.input ? input - inner.cut.windows : input);
  return pairs;
}

template <const Operation& (*inner)()>
Operation make() {
  static const std::string name = "windowed_" + std::string(inner().name);
  Operation operation;
  operation.name = name;
  operation.infer = infer<inner>;
  operation.flops = flops<inner>;
  operation.in_place = in_place(inner());
  operation.cheap = inner().cheap;
  operation.bytes = bytes<inner>;
  operation.inner = inner;
  return operation;
}

}  // namespace

template <const Operation& (*inner)()>
const Operation& windowed() {
  static const Operation operation = make<inner>();
  return operation;
}

#define INSTANTIATE(operation) template const Operation& windowed<operation>();
VOXSWAP_WINDOWED_OPERATIONS(INSTANTIATE)
#undef INSTANTIATE

namespace {

// The planes that the taps of these output planes read.
Cut::Window window_of_taps(const Node& node, std::int64_t depth, const KernelAxis& axis, Planes made) {
  const Planes reached = {axis.start(made.from), axis.start(made.to - 1) + axis.reach()};
  const Planes read = {std::max<std::int64_t>(reached.from, 0), std::min(reached.to, depth)};
  Attributes attributes = node.attributes;
  attributes.set("front", static_cast<double>(read.from - reached.from));
  attributes.set("back", static_cast<double>(reached.to - read.to));
  return {read, attributes};
}

// Plane i of dx gets contributions from planes o of dy with 0 <= i - (o stride - front) < reach; without
// dilation, from all of them.
Cut::Window window_of_gradient(const Node& node, std::int64_t depth, const KernelAxis& axis, Planes made) {
  const std::int64_t stride = axis.stride, front = axis.before, reach = axis.reach();
  const auto divided_up = [&](std::int64_t n) { return n <= 0 ? 0 : (n + stride - 1) / stride; };
  Planes read = {divided_up(made.from + front - reach + 1),
                 std::min((made.to - 1 + front) / stride + 1, depth)};
  read.from = std::min(read.from, read.to - 1);  // no contribution: any plane will do
  Attributes attributes = node.attributes;
  const std::int64_t before = made.from + front - read.from * stride;
  const std::int64_t behind = (read.count() - 1) * stride + reach - made.count() - before;
  attributes.set("d", static_cast<double>(made.count()));
  attributes.set("front", static_cast<double>(before));
  attributes.set("back", static_cast<double>(std::max<std::int64_t>(behind, 0)));
  return {read, attributes};
}

// Attributes of a part that makes `made` planes. x_first and y_first are its first planes, relative to the
// node's.
Attributes resize_attributes(Attributes attributes, const LinearAxis& axis, std::int64_t made,
                             std::int64_t x_first, std::int64_t y_first) {
  attributes.set("d", static_cast<double>(made));
  attributes.set("x_depth", static_cast<double>(axis.side));
  attributes.set("y_depth", static_cast<double>(axis.outputs));
  attributes.set("x_first", static_cast<double>(axis.first_side + x_first));
  attributes.set("y_first", static_cast<double>(axis.first_output + y_first));
  return attributes;
}

}  // namespace

Cut::Window window_conv3d(const Graph& graph, const Node& node, Planes made) {
  const KernelAxes axes = kernel_axes(node.attributes, shape_of(graph, node.inputs[1]));
  return window_of_taps(node, shape_of(graph, node.inputs[0])[1], axes[0], made);
}

Cut::Window window_pool(const Graph& graph, const Node& node, Planes made) {
  return window_of_taps(node, shape_of(graph, node.inputs[0])[1], kernel_axes(node.attributes)[0], made);
}

Cut::Window window_data_gradient(const Graph& graph, const Node& node, Planes made) {
  return window_of_gradient(node, shape_of(graph, node.inputs[0])[1],
                            kernel_axes(node.attributes, shape_of(graph, node.inputs[1]))[0], made);
}

Cut::Window window_unpool(const Graph& graph, const Node& node, Planes made) {
  return window_of_gradient(node, shape_of(graph, node.inputs[0])[1], kernel_axes(node.attributes)[0], made);
}

// Planes are counted from the node's first, whose position in the whole volumes is in the attributes.
Cut::Window window_resize(const Graph& graph, const Node& node, Planes made) {
  const Shape& x = shape_of(graph, node.inputs[0]);
  const LinearAxis axis = linear_depth(node.attributes, x, shape_of(graph, node.outputs[0]));
  const Planes read = {axis.between_here(made.from).low, axis.between_here(made.to - 1).high + 1};
  return {read, resize_attributes(node.attributes, axis, made.count(), read.from, made.from)};
}

Cut::Window window_resize_gradient(const Graph& graph, const Node& node, Planes made) {
  const Shape& dy = shape_of(graph, node.inputs[0]);
  const LinearAxis axis = linear_depth(node.attributes, shape_of(graph, node.outputs[0]), dy);
  const LinearAxis::Range reached = axis.outputs_of(made.from + axis.first_side, made.to + axis.first_side);
  Planes read = {std::max<std::int64_t>(reached.from - axis.first_output, 0),
                 std::min(reached.to - axis.first_output, dy[1])};
  read.from = std::min(read.from, dy[1] - 1);  // no contribution: any plane will do
  read.to = std::max(read.to, read.from + 1);
  return {read, resize_attributes(node.attributes, axis, made.count(), made.from, read.from)};
}

// Every plane comes from the one voxel.
Cut::Window window_spread(const Graph&, const Node& node, Planes made) {
  Attributes attributes = node.attributes;
  attributes.set("d", static_cast<double>(made.count()));
  return {{0, 1}, attributes};
}

Cut::Window window_upsample(const Graph&, const Node& node, Planes made) {
  return {{made.from / 2, made.to / 2}, node.attributes};
}
Cut::Window window_of_blocks(const Graph&, const Node& node, Planes made) {
  return {{2 * made.from, 2 * made.to}, node.attributes};
}

// y[2 j + p] = z[j + p] for p = 0 and 1.
Cut::Window window_interleave(const Graph&, const Node& node, Planes made) {
  return {{made.from / 2, made.to / 2 + 1}, node.attributes};
}

// Plane j of dz comes from planes 2 j - p + shift of the input.
Cut::Window window_interleave_gradient(const Graph& graph, const Node& node, Planes made) {
  const std::int64_t shift = node.attributes.integer_or("shift", 0);
  const Planes read = {std::max<std::int64_t>(2 * made.from - 1 + shift, 0),
                       std::min<std::int64_t>(2 * made.to - 1 + shift, shape_of(graph, node.inputs[0])[1])};
  Attributes attributes = node.attributes;
  attributes.set("shift", static_cast<double>(2 * made.from + shift - read.from));
  attributes.set("depth", static_cast<double>(made.count()));
  return {read, attributes};
}

}  // namespace voxswap::net::ops
