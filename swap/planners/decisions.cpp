#include "swap/planners/decisions.h"

#include "base/shape.h"

namespace voxswap::swap {
namespace {

constexpr net::NodeId near = 4;  // gaps of at most this many nodes are not worth a recomputation

void recompute_in_long_gaps(const GraphFacts& facts, const VolumeFacts& volume, Decisions& decisions) {
  for (std::size_t gap = 0; gap + 1 < volume.gaps.size(); ++gap)
    for (const GapId id : volume.gaps[gap]) {
      const ValueFacts& value = facts.values[index(facts.value_of_gap[index(id)])];
      const std::size_t reader = index(id - value.first_gap);
      const net::NodeId before = reader == 0 ? value.producer : value.readers[reader - 1];
      decisions.recompute[index(id)] =
          value.readers[reader] - before > (volume.slabs.size() > 1 ? halo_nodes : near);
    }
  for (const GapId id : volume.gaps.back()) decisions.recompute[index(id)] = true;
}

}  // namespace

Decisions keep_everything(const GraphFacts& facts) {
  return {std::vector<bool>(index(facts.gaps), false), std::vector<bool>(facts.values.size(), false),
          std::vector<bool>(facts.values.size() * facts.passes, false),
          std::vector<float>(facts.values.size(), 1)};
}

void copy_value_decisions(const ValueIn& from, const Decisions& decisions, const ValueIn& to,
                          const std::vector<std::size_t>& passes, Decisions& result) {
  const std::size_t source = index(from.id), target = index(to.id);
  result.recompute_per_use[target] = decisions.recompute_per_use[source];
  result.eviction_bias[target] = decisions.eviction_bias[source];
  for (std::size_t pass = 0; pass < to.facts.passes; ++pass)
    result.retain[target * to.facts.passes + pass] =
        decisions.retain[source * from.facts.passes + passes[pass]];
}

void set_gap(const VolumeFacts& volume, std::size_t gap, bool recompute, const SlabRange& range,
             Decisions& decisions) {
  const std::vector<GapId>& ids = volume.gaps[gap];
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (range.contains(i)) decisions.recompute[index(ids[i])] = recompute;
}

void recompute_in_chains(const GraphFacts& facts, const Chains& chains, Decisions& decisions) {
  std::vector<int> chain(facts.volumes.size(), 0);
  for (std::size_t i = 0; i < facts.volumes.size(); ++i) {
    const VolumeFacts& volume = facts.volumes[i];
    if (!volume.recomputable || !(volume.cheap || chains.costly) ||
        volume.bytes < (volume.gradient ? chains.least_gradient : chains.least_bytes))
      continue;
    int length = 1;
    for (const std::int32_t source : volume.sources) length += chain[index(source)];
    if (length > chains.longest) continue;
    chain[i] = length;
    recompute_in_long_gaps(facts, volume, decisions);
  }
}

void recompute_with_sources(const GraphFacts& facts, std::int32_t id, int depth, bool per_use,
                            Decisions& decisions) {
  const VolumeFacts& volume = facts.volumes[index(id)];
  if (!volume.recomputable) return;
  recompute_in_long_gaps(facts, volume, decisions);
  for (const net::ValueId slab : volume.slabs) decisions.recompute_per_use[index(slab)] = per_use;
  if (depth == 0) return;
  for (const std::int32_t source : volume.sources)
    recompute_with_sources(facts, source, depth - 1, per_use, decisions);
}

}  // namespace voxswap::swap
