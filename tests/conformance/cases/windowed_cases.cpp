// Cases of windowed operations (net/ops/windowed.cpp), made from those of their inner operations.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/text.h"
#include "net/graph/graph.h"
#include "net/graph/operation.h"
#include "net/graph/window.h"
#include "tests/conformance/cases/cases.h"

namespace voxswap::net::cases {

namespace {

// A case as the node of a graph.
Node node_of(const Operation& inner, const OperationCase& example, Graph& graph) {
  std::vector<ValueId> inputs;
  for (const Input& input : example.inputs)
    inputs.push_back(graph.add_value("input", input.shape,
                                     input.kind == Input::Kind::bits ? ElementType::u8 : ElementType::f32,
                                     Role::input));
  return graph.node(graph.add(inner.name, "node", inputs, example.attributes));
}

// The part of a case that makes the planes `made`, its volumes in slabs of `planes` planes.
OperationCase part_of(const Operation& inner, const OperationCase& example, Planes made,
                      std::int64_t planes) {
  Graph graph;
  const Cut::Window window = inner.cut.window(graph, node_of(inner, example, graph), made);

  const auto at = static_cast<std::size_t>(inner.cut.input);
  const std::int64_t first = window.read.from / planes, last = (window.read.to - 1) / planes;
  OperationCase part{format("{}, planes {} to {} of slabs of {}", example.name, made.from, made.to, planes),
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
    for (std::int64_t slab = first; slab <= last; ++slab) {
      part.inputs.push_back(example.inputs[i]);
      Shape& shape = part.inputs.back().shape;
      shape[1] = std::min(planes, shape[1] - slab * planes);
    }
  return part;
}

}  // namespace

// Slabs of one plane, narrower than any halo; slabs of two planes, of which only a part is read; and a
// shorter last slab.
Cases windowed(const Operation& inner, const Cases& whole) {
  Cases result;
  for (const OperationCase& example : whole) {
    Graph graph;
    const std::int64_t all = planes_made(graph, node_of(inner, example, graph)), grain = inner.cut.grain;
    result.push_back(part_of(inner, example, {0, all}, 1));
    if (all <= grain) continue;
    const std::int64_t middle = all / 2 / grain * grain, third = std::max(all / 3 / grain * grain, grain);
    result.push_back(part_of(inner, example, {middle, std::min(middle + third, all)}, 2));
    const std::int64_t depth = example.inputs[static_cast<std::size_t>(inner.cut.input)].shape[1];
    if (depth > 3) result.push_back(part_of(inner, example, {third, all}, depth - 1));
  }
  if (inner.cut.kind != Cut::Kind::windowed_sum) return result;
  for (std::size_t i = 0, count = result.size(); i < count; ++i) {
    OperationCase by_nodes = result[i];
    by_nodes.name += ", by nodes of the tree";
    by_nodes.attributes.set("nodes", 1);
    by_nodes.attributes.set("first", 3);
    result.push_back(std::move(by_nodes));
  }
  return result;
}

}  // namespace voxswap::net::cases
