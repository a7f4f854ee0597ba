// What the search chooses between (search.h), and changes of it that concern several values at once.
#pragma once

#include <limits>
#include <vector>

#include "swap/planners/graph_facts.h"

namespace voxswap::swap {

struct Decisions {
  std::vector<bool> again;  // per gap: made again there (sequence.h)
  std::vector<bool> alone;  // per value: made for every reader anew, not kept from one to the next
  // Per value and pass, in rows of GraphFacts::passes: where it is made again, what is there of it in
  // the pass is not dropped before the next one ends.
  std::vector<bool> held;
  std::vector<float> bias;  // per value: leaves earlier (above 1) or later than Belady's rule has it
  // Part of the memory beside persistent values that is left for copies on their way: what stays is chosen as
  // if it were not there, so that copies come back before they are waited for.
  double reserve = 0;
  // Of steps in pieces: nodes for which what was made for a reader alone is there for others.
  net::NodeId window = nodes_of_neighbours;
};

Decisions keep_everything(const GraphFacts& facts);

struct Chains {
  int longest = 1;      // runs in a row
  bool costly = false;  // not only what is cheap
  std::int64_t least_bytes = 0;
  std::int64_t least_gradient = std::numeric_limits<std::int64_t>::max();  // the same of gradients
};
// Makes again whatever can be within such chains. Only in long gaps: a value read by neighbours is not made
// twice.
void repeat_in_chains(const GraphFacts& facts, const Chains& chains, Decisions& choice);

// Some pieces of a volume, [from, to).
struct PieceRange {
  std::size_t from = 0, to = std::numeric_limits<std::size_t>::max();
  bool contains(std::size_t piece) const { return from <= piece && piece < to; }
};
void set_gap(const VolumeFacts& volume, std::size_t gap, bool again, const PieceRange& range,
             Decisions& choice);

// Makes a volume again, and what it is made of, and what that is made of, `depth` times: to make it again is
// little use as long as all of those are kept for it.
void repeat_with_sources(const GraphFacts& facts, std::int32_t volume, int depth, bool alone,
                         Decisions& choice);

}  // namespace voxswap::swap
