// The state of the search (search.h): what to recompute and what to retain, for every value, and moves that
// change several of these decisions at once.
#pragma once

#include <limits>
#include <vector>

#include "swap/planners/graph_facts.h"

namespace voxswap::swap {

struct Decisions {
  std::vector<bool> recompute;  // per gap: free the value at the gap's start, recompute it at the next use
  // Per value: recompute it for every reader. Otherwise a value that was recomputed as the input of another
  // recomputation stays until its own reader.
  std::vector<bool> recompute_per_use;
  // Per value and pass, GraphFacts::passes entries per value: a value that is resident in this pass is kept
  // until the next pass ends, although one of its gaps says recompute.
  std::vector<bool> retain;
  std::vector<float> eviction_bias;  // per value: above 1 evicts earlier than Belady's rule, below 1 later
  // Share of the memory beside persistent values that is left to copies in flight. Evictions are chosen as if
  // it did not exist, so that prefetches have room to finish before their values are needed.
  double reserve = 0;
  // Steps in slabs: number of nodes for which a value that was recomputed for one reader stays for others.
  net::NodeId reuse_window = halo_nodes;
};

Decisions keep_everything(const GraphFacts& facts);

// Copies the decisions for a value, except those for its gaps, to a value of another step (or of the same
// step in other slabs). passes: per pass of `to`, the corresponding pass of `from`.
struct ValueIn {
  const GraphFacts& facts;
  net::ValueId id;
};
void copy_value_decisions(const ValueIn& from, const Decisions& decisions, const ValueIn& to,
                          const std::vector<std::size_t>& passes, Decisions& result);

// Limits of recompute_in_chains().
struct Chains {
  int longest = 1;      // recomputations in a row
  bool costly = false;  // include values that cost more than one pass over memory
  std::int64_t least_bytes = 0;
  std::int64_t least_gradient = std::numeric_limits<std::int64_t>::max();  // least_bytes of gradients
};
// Recomputes all values that these limits allow, in long gaps only: a value that neighbouring nodes read is
// not computed twice.
void recompute_in_chains(const GraphFacts& facts, const Chains& chains, Decisions& decisions);

// Slabs [from, to) of a volume.
struct SlabRange {
  std::size_t from = 0, to = std::numeric_limits<std::size_t>::max();
  bool contains(std::size_t slab) const { return from <= slab && slab < to; }
};
void set_gap(const VolumeFacts& volume, std::size_t gap, bool recompute, const SlabRange& range,
             Decisions& decisions);

// Recomputes a volume and its sources, `depth` levels up. Recomputing a volume alone saves little while all
// of its sources are kept for it.
void recompute_with_sources(const GraphFacts& facts, std::int32_t volume, int depth, bool per_use,
                            Decisions& decisions);

}  // namespace voxswap::swap
