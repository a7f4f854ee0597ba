// Sets and gets values of a graph whose volumes are split into slabs.
#pragma once

#include "net/steps/pieces.h"
#include "tests/net/training.h"

namespace voxswap::net {

// Calls action(slab, its first plane, its number of planes) for each slab of a value of the whole graph.
template <class Action>
void for_pieces(const CutGraph& cut, ValueId id, const Action& action) {
  std::int64_t from = 0;
  for (const ValueId piece : cut.pieces[static_cast<std::size_t>(id)]) {
    const std::int64_t planes = cut.graph.value(piece).shape[1];
    action(piece, from, planes);
    from += planes;
  }
}

inline void set(GraphRun& run, const CutGraph& cut, const Graph& graph, ValueId id, const Doubles& whole) {
  const std::vector<ValueId>& pieces = cut.pieces[static_cast<std::size_t>(id)];
  if (pieces.size() == 1) return run.set(pieces[0], whole);
  const Shape& shape = graph.value(id).shape;
  const std::int64_t plane = shape.count_from(2);
  for_pieces(cut, id, [&](ValueId piece, std::int64_t from, std::int64_t planes) {
    Doubles part;
    for (std::int64_t n = 0; n < shape[0]; ++n) {
      const auto begin = whole.begin() + (n * shape[1] + from) * plane;
      part.insert(part.end(), begin, begin + planes * plane);
    }
    run.set(piece, part);
  });
}

inline Doubles get(GraphRun& run, const CutGraph& cut, const Graph& graph, ValueId id) {
  const std::vector<ValueId>& pieces = cut.pieces[static_cast<std::size_t>(id)];
  if (pieces.size() == 1) return run.get(pieces[0]);
  const Shape& shape = graph.value(id).shape;
  const std::int64_t plane = shape.count_from(2);
  Doubles whole(static_cast<std::size_t>(shape.count()));
  for_pieces(cut, id, [&](ValueId piece, std::int64_t from, std::int64_t planes) {
    const Doubles part = run.get(piece);
    for (std::int64_t n = 0; n < shape[0]; ++n)
      std::copy_n(part.begin() + n * planes * plane, planes * plane,
                  whole.begin() + (n * shape[1] + from) * plane);
  });
  return whole;
}

}  // namespace voxswap::net
