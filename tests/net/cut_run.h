// Sets and gets values of a graph whose volumes are split into slabs.
#pragma once

#include "net/steps/slabs.h"
#include "tests/net/training.h"

namespace voxswap::net {

// Calls action(slab, its first plane, its number of planes) for each slab of a value of the whole graph.
template <class Action>
void for_slabs(const CutGraph& cut, ValueId id, const Action& action) {
  std::int64_t from = 0;
  for (const ValueId slab : cut.slabs[static_cast<std::size_t>(id)]) {
    const std::int64_t planes = cut.graph.value(slab).shape[1];
    action(slab, from, planes);
    from += planes;
  }
}

inline void set(GraphRun& run, const CutGraph& cut, const Graph& graph, ValueId id, const Doubles& whole) {
  const std::vector<ValueId>& slabs = cut.slabs[static_cast<std::size_t>(id)];
  if (slabs.size() == 1) return run.set(slabs[0], whole);
  const Shape& shape = graph.value(id).shape;
  const std::int64_t plane = shape.count_from(2);
  for_slabs(cut, id, [&](ValueId slab, std::int64_t from, std::int64_t planes) {
    Doubles part;
    for (std::int64_t n = 0; n < shape[0]; ++n) {
      const auto begin = whole.begin() + (n * shape[1] + from) * plane;
      part.insert(part.end(), begin, begin + planes * plane);
    }
    run.set(slab, part);
  });
}

inline Doubles get(GraphRun& run, const CutGraph& cut, const Graph& graph, ValueId id) {
  const std::vector<ValueId>& slabs = cut.slabs[static_cast<std::size_t>(id)];
  if (slabs.size() == 1) return run.get(slabs[0]);
  const Shape& shape = graph.value(id).shape;
  const std::int64_t plane = shape.count_from(2);
  Doubles whole(static_cast<std::size_t>(shape.count()));
  for_slabs(cut, id, [&](ValueId slab, std::int64_t from, std::int64_t planes) {
    const Doubles part = run.get(slab);
    for (std::int64_t n = 0; n < shape[0]; ++n)
      std::copy_n(part.begin() + n * planes * plane, planes * plane,
                  whole.begin() + (n * shape[1] + from) * plane);
  });
  return whole;
}

}  // namespace voxswap::net
