// Windowed operations: the planes of a window are copied from the slabs to one array, then the inner
// operation's routine runs.
#include "net/backends/reference/windowed.h"

#include <algorithm>

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
  for (std::size_t i = 0; i < window.slabs.size(); ++i)
    volumes_.push_back({nullptr, slab.value(slab.node(0).inputs[input_ + i]).shape});
  inner_.attributes = slab.node(0).attributes;
}

std::int64_t WindowCopy::doubles() const {
  std::int64_t count = 0;
  for (const Array& volume : volumes_) count += volume.shape.count();
  return count;
}

// Copies from the slabs that begin with input `first`.
void WindowCopy::copy(const std::vector<Array>& inputs, std::size_t first, const Array& volume) const {
  const Shape& shape = volume.shape;
  const std::int64_t plane = shape.count_from(2);
  std::int64_t from = -skip_;  // first plane of the slab, relative to the window
  for (std::size_t i = first; from < shape[1]; ++i) {
    const Array& slab = inputs[i];
    const std::int64_t planes = slab.shape[1];
    for (std::int64_t n = 0; n < shape[0]; ++n)
      for (std::int64_t z = std::max<std::int64_t>(from, 0); z < std::min(from + planes, shape[1]); ++z)
        std::copy_n(slab.data + (n * planes + z - from) * plane, plane,
                    volume.data + (n * shape[1] + z) * plane);
    from += planes;
  }
}

void WindowCopy::run(const Call& call, double* place) {
  const std::size_t each = (call.inputs.size() - others_) / volumes_.size();
  inner_.inputs.assign(call.inputs.begin(), call.inputs.begin() + static_cast<std::ptrdiff_t>(others_));
  for (std::size_t i = 0; i < volumes_.size(); ++i) {
    Array& volume = volumes_[i];
    volume.data = place;
    place += volume.shape.count();
    copy(call.inputs, others_ + i * each, volume);
    inner_.inputs.insert(inner_.inputs.begin() + static_cast<std::ptrdiff_t>(input_ + i), volume);
  }
  inner_.outputs = call.outputs;
  inner_.context = call.context;
  routine_(inner_);
}

}  // namespace voxswap::net::reference
