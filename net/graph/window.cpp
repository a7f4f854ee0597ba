#include "net/graph/window.h"

#include <cassert>
#include <string>

namespace voxswap::net {

namespace {

constexpr const char *slabs_name = "slabs", *skip_name = "skip", *planes_name = "planes";

Attributes without_window(const Attributes& attributes) {
  Attributes result;
  for (const auto& [name, value] : attributes.values())
    if (name != slabs_name && name != skip_name && name != planes_name) result.set(name, value);
  return result;
}

}  // namespace

Window window_of(const Operation& inner, const std::vector<ValueId>& inputs, const Attributes& attributes) {
  assert(inner.cut.window != nullptr);
  const std::int64_t each = attributes.integer(slabs_name), all = each * inner.cut.windows;
  assert(each > 0 && all <= static_cast<std::int64_t>(inputs.size()));
  Window window = {{inputs.begin(), inputs.end() - all},
                   {},
                   attributes.integer(skip_name),
                   attributes.integer(planes_name)};
  for (auto first = inputs.end() - all; first != inputs.end(); first += each)
    window.slabs.emplace_back(first, first + each);
  return window;
}

Attributes windowed_attributes(Attributes inner, std::int64_t slabs, std::int64_t skip, std::int64_t planes) {
  inner.set(slabs_name, static_cast<double>(slabs));
  inner.set(skip_name, static_cast<double>(skip));
  inner.set(planes_name, static_cast<double>(planes));
  return inner;
}

Graph slab_graph(const Graph& graph, const Operation& inner, const std::vector<ValueId>& inputs,
                 const Attributes& attributes) {
  const Window window = window_of(inner, inputs, attributes);
  const std::vector<ValueId>& slabs = window.slabs.front();
  std::int64_t planes = -window.skip;
  for (const ValueId id : slabs) planes += graph.value(id).shape[1];
  assert(window.skip >= 0 && window.skip < graph.value(slabs.front()).shape[1]);
  assert(window.planes > 0 && window.planes <= planes);

  Graph slab;
  std::vector<ValueId> slab_inputs;
  for (const ValueId id : window.others) {
    const Value& value = graph.value(id);
    slab_inputs.push_back(slab.add_value(value.name, value.shape, value.type, value.role));
  }
  for (std::size_t i = 0; i < window.slabs.size(); ++i) {
    Value volume = graph.value(window.slabs[i].front());
    volume.shape[1] = window.planes;
    slab_inputs.insert(slab_inputs.begin() + inner.cut.input + static_cast<std::ptrdiff_t>(i),
                       slab.add_value(volume.name, volume.shape, volume.type, volume.role));
  }
  Attributes of_slab = without_window(attributes);
  if (inner.cut.kind == Cut::Kind::windowed_sum) of_slab.set("apart", 1);
  slab.add(inner.name, std::string(inner.name), slab_inputs, of_slab);
  return slab;
}

std::int64_t planes_made(const Graph& graph, const Node& node) {
  const Cut& cut = node.operation->cut;
  const ValueId along = cut.kind == Cut::Kind::windowed_sum ? node.inputs[static_cast<std::size_t>(cut.along)]
                                                            : node.outputs.front();
  return graph.value(along).shape[1];
}

const Operation* find_windowed(const Operation& inner) {
  for (const Operation* operation : operations())
    if (operation->inner != nullptr && &operation->inner() == &inner) return operation;
  return nullptr;
}

}  // namespace voxswap::net
