// Facts about a graph that planners need often, as flat arrays: nodes, values and their gaps, volumes and
// passes.
#pragma once

#include <utility>
#include <vector>

#include "swap/planners/planner.h"

namespace voxswap::swap {

// Gap i of a value is the time before its i-th use in the graph's order (i from 0); gap i = number of readers
// is the time after the last use. The gaps of all values are numbered consecutively.
using GapId = std::int32_t;

// Number of nodes within which the neighbouring slabs have read the halo of a slab (net/steps/slabs.h).
constexpr net::NodeId halo_nodes = 24;

struct NodeFacts {
  std::vector<net::ValueId> reads, writes;                      // without persistent values, each once
  std::vector<net::ValueId> parameters;                         // persistent values read
  std::vector<net::ValueId> updates;                            // persistent values written
  std::vector<std::pair<net::ValueId, net::ValueId>> in_place;  // (output, input that it may overwrite)
  std::int64_t workspace = 0;                                   // occupied bytes
  double seconds = 0;                                           // on the compute lane
  bool exchanges = false;  // communicates with other ranks, concurrently with the nodes that follow
  double exchange_seconds = 0;
  std::vector<net::NodeId> awaited_exchanges;  // exchanges that produce its inputs
};

struct ValueFacts {
  std::int64_t bytes = 0;  // occupied
  net::NodeId producer = net::none;
  bool persistent = false, kept = false;
  bool streamed = false;             // an input or result of the step: stored in host memory outside the pool
  bool recomputable = false;         // its node may run more than once
  bool cheap = false;                // recomputable in one pass over memory
  bool gradient = false;             // produced after the forward pass
  std::vector<net::NodeId> readers;  // ascending, each once
  GapId first_gap = 0;
  std::int32_t volume = net::none;  // index into GraphFacts::volumes
};

// A value, or the slabs of a volume (net/steps/slabs.h). A decision for one slab mostly suits all of them.
struct VolumeFacts {
  std::vector<net::ValueId> slabs;  // in the order of production
  std::vector<std::vector<GapId>>
      gaps;                           // [reader][slab]: gaps before a common reader; last: after the last use
  std::vector<std::int32_t> sources;  // volumes from which it is computed, without persistent values
  std::int64_t bytes = 0;             // occupied
  bool recomputable = false, cheap = false, gradient = false;  // true for some slab
};

struct GraphFacts {
  explicit GraphFacts(const StepProblem& problem);

  const StepProblem* problem;
  std::vector<NodeFacts> nodes;
  std::vector<ValueFacts> values;
  std::vector<VolumeFacts> volumes;
  bool in_slabs = false;  // some volume has several
  GapId gaps = 0;
  std::vector<net::ValueId> value_of_gap;
  std::int64_t persistent_bytes = 0;
  double compute_seconds = 0;
  // Passes over the volumes of a step in slabs, as in the lower bound (swap/model/volume_program.h).
  std::vector<std::int32_t> pass;  // per node
  std::size_t passes = 1;

 private:
  void find_volumes();
  void find_gaps(const std::vector<std::int32_t>& operations, VolumeFacts& volume);
  void mark_gradient_slabs_recomputable();
  void find_passes();
};

}  // namespace voxswap::swap
