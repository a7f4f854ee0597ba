// windowed_…: the windowed version (net/graph/window.h) of each operation that is split with a window.
// Everything follows from the inner operation. Attributes pieces, skip and planes, and those of the inner
// operation.
#include <algorithm>
#include <string>

#include "base/text.h"
#include "net/graph/window.h"
#include "net/ops/ops.h"

namespace voxswap::net::ops {

namespace {

template <const Operation& (*inner)()>
std::vector<ValueSpec> infer(const Graph& graph, const std::vector<ValueId>& inputs,
                             const Attributes& attributes) {
  const Graph slab = slab_graph(graph, inner(), inputs, attributes);
  std::vector<ValueSpec> specs;
  for (const ValueId id : slab.node(0).outputs) specs.push_back({slab.value(id).shape, slab.value(id).type});
  return specs;
}

template <const Operation& (*inner)()>
double flops(const Graph& graph, const Node& node) {
  const Graph slab = slab_graph(graph, inner(), node.inputs, node.attributes);
  return node_flops(slab, slab.node(0));
}

// Of the slabs, only the window counts.
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

// A test case as a node of a graph. Built by hand, because the table of operations does not exist yet.
Node node_of(const Operation& inner, const OperationCase& example, Graph& graph) {
  Node node;
  node.operation = &inner;
  node.attributes = example.attributes;
  for (const Input& input : example.inputs)
    node.inputs.push_back(
        graph.add_value("input", input.shape,
                        input.kind == Input::Kind::bits ? ElementType::u8 : ElementType::f32, Role::input));
  for (const ValueSpec& spec : inner.infer(graph, node.inputs, node.attributes))
    node.outputs.push_back(graph.add_value("output", spec.shape, spec.type, Role::activation));
  return node;
}

// The part of a test case that makes the planes `made`, its volumes in slabs of `planes` planes.
OperationCase part_of(const Operation& inner, const OperationCase& example, Planes made,
                      std::int64_t planes) {
  Graph graph;
  const Cut::Window window = inner.cut.window(graph, node_of(inner, example, graph), made);

  const auto at = static_cast<std::size_t>(inner.cut.input);
  const std::int64_t first = window.read.from / planes, last = (window.read.to - 1) / planes;
  OperationCase part{format("{}, planes {} to {} of pieces of {}", example.name, made.from, made.to, planes),
                     {},
                     windowed_attributes(window.attributes, last - first + 1,
                                         window.read.from - first * planes, window.read.count()),
                     {}};
  for (std::size_t i = 0; i < example.inputs.size(); ++i) {
    if (inner.cut.reads_window(i)) continue;
    part.inputs.push_back(example.inputs[i]);
    if (static_cast<int>(i) == inner.cut.along) part.inputs.back().shape[1] = made.count();
  }
  for (std::size_t i = at; inner.cut.reads_window(i); ++i)
    for (std::int64_t piece = first; piece <= last; ++piece) {
      part.inputs.push_back(example.inputs[i]);
      Shape& shape = part.inputs.back().shape;
      shape[1] = std::min(planes, shape[1] - piece * planes);
    }
  return part;
}

// Slabs of one plane, narrower than any halo; slabs of two planes, of which only a part is read; and a
// shorter last slab.
std::vector<OperationCase> cases(const Operation& inner) {
  std::vector<OperationCase> result;
  for (const OperationCase& example : inner.cases) {
    Graph graph;
    const std::int64_t all = planes_made(graph, node_of(inner, example, graph)), grain = inner.cut.grain;
    result.push_back(part_of(inner, example, {0, all}, 1));
    if (all <= grain) continue;
    const std::int64_t middle = all / 2 / grain * grain, third = std::max(all / 3 / grain * grain, grain);
    result.push_back(part_of(inner, example, {middle, std::min(middle + third, all)}, 2));
    const std::int64_t depth = example.inputs[static_cast<std::size_t>(inner.cut.input)].shape[1];
    if (depth > 3) result.push_back(part_of(inner, example, {third, all}, depth - 1));
  }
  return result;
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
  operation.cases = cases(inner());
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

}  // namespace voxswap::net::ops
