#include "net/backends/reference/windowed.h"

#include <algorithm>

#include "net/graph/graph.h"
#include "net/graph/operation.h"
#include "net/graph/window.h"

namespace voxswap::net::reference {

WindowCopy::WindowCopy(const Graph& graph, const Node& node) {
  const Operation& inner = node.operation->inner();
  const Window window = window_of(inner, node.inputs, node.attributes);
  const Graph slab = slab_graph(graph, inner, node.inputs, node.attributes);
  routine_ = find_routine(inner.name);
  others_ = window.others.size();
  input_ = static_cast<std::size_t>(inner.cut.input);
  skip_ = window.skip;
  volume_.shape = slab.value(slab.node(0).inputs[input_]).shape;
  inner_.attributes = slab.node(0).attributes;
}

void WindowCopy::run(const Call& call, double* place) {
  const Shape& shape = volume_.shape;
  const std::int64_t plane = shape.count_from(2);
  volume_.data = place;
  std::int64_t first = -skip_;  // of the piece, counted in planes of the window
  for (std::size_t i = others_; i < call.inputs.size(); ++i) {
    const Array& piece = call.inputs[i];
    const std::int64_t planes = piece.shape[1];
    for (std::int64_t n = 0; n < shape[0]; ++n)
      for (std::int64_t z = std::max<std::int64_t>(first, 0); z < std::min(first + planes, shape[1]); ++z)
        std::copy_n(piece.data + (n * planes + z - first) * plane, plane, place + (n * shape[1] + z) * plane);
    first += planes;
  }
  inner_.inputs.assign(call.inputs.begin(), call.inputs.begin() + static_cast<std::ptrdiff_t>(others_));
  inner_.inputs.insert(inner_.inputs.begin() + static_cast<std::ptrdiff_t>(input_), volume_);
  inner_.outputs = call.outputs;
  inner_.context = call.context;
  routine_(inner_);
}

}  // namespace voxswap::net::reference
