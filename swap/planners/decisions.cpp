#include "swap/planners/decisions.h"

#include "base/shape.h"

namespace voxswap::swap {
namespace {

constexpr net::NodeId near = 4;  // nodes between two readings that are not worth a run in between

void repeat_in_long_gaps(const GraphFacts& facts, const VolumeFacts& volume, Decisions& choice) {
  for (std::size_t gap = 0; gap + 1 < volume.gaps.size(); ++gap)
    for (const GapId id : volume.gaps[gap]) {
      const ValueFacts& value = facts.values[index(facts.value_of_gap[index(id)])];
      const std::size_t reading = index(id - value.first_gap);
      const net::NodeId before = reading == 0 ? value.producer : value.readers[reading - 1];
      choice.again[index(id)] =
          value.readers[reading] - before > (volume.pieces.size() > 1 ? nodes_of_neighbours : near);
    }
  for (const GapId id : volume.gaps.back()) choice.again[index(id)] = true;
}

}  // namespace

Decisions keep_everything(const GraphFacts& facts) {
  return {std::vector<bool>(index(facts.gaps), false), std::vector<bool>(facts.values.size(), false),
          std::vector<bool>(facts.values.size() * facts.passes, false),
          std::vector<float>(facts.values.size(), 1)};
}

void set_gap(const VolumeFacts& volume, std::size_t gap, bool again, const PieceRange& range,
             Decisions& choice) {
  const std::vector<GapId>& ids = volume.gaps[gap];
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (range.contains(i)) choice.again[index(ids[i])] = again;
}

void repeat_in_chains(const GraphFacts& facts, const Chains& chains, Decisions& choice) {
  std::vector<int> chain(facts.volumes.size(), 0);
  for (std::size_t i = 0; i < facts.volumes.size(); ++i) {
    const VolumeFacts& volume = facts.volumes[i];
    if (!volume.repeatable || !(volume.cheap || chains.costly) ||
        volume.bytes < (volume.gradient ? chains.least_gradient : chains.least_bytes))
      continue;
    int length = 1;
    for (const std::int32_t source : volume.sources) length += chain[index(source)];
    if (length > chains.longest) continue;
    chain[i] = length;
    repeat_in_long_gaps(facts, volume, choice);
  }
}

void repeat_with_sources(const GraphFacts& facts, std::int32_t id, int depth, bool alone, Decisions& choice) {
  const VolumeFacts& volume = facts.volumes[index(id)];
  if (!volume.repeatable) return;
  repeat_in_long_gaps(facts, volume, choice);
  for (const net::ValueId piece : volume.pieces) choice.alone[index(piece)] = alone;
  if (depth == 0) return;
  for (const std::int32_t source : volume.sources)
    repeat_with_sources(facts, source, depth - 1, alone, choice);
}

}  // namespace voxswap::swap
