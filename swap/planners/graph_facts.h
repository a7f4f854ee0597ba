// Facts about a graph that planners need often, as flat arrays.
#pragma once

#include <utility>
#include <vector>

#include "swap/planners/planner.h"

namespace voxswap::swap {

// A gap is the time before the i-th reading of a value in the graph's order (i from 0), or after the last one
// (i = number of readers); gaps of all values are numbered through.
using GapId = std::int32_t;

// Nodes in which the pieces next to one, whose windows need it too, have passed (net/steps/pieces.h).
constexpr net::NodeId nodes_of_neighbours = 24;

struct NodeFacts {
  std::vector<net::ValueId> reads, makes;  // without persistent values, each once
  std::vector<net::ValueId> parameters;    // persistent values read
  std::vector<net::ValueId> updates;       // persistent values written
  std::vector<std::pair<net::ValueId, net::ValueId>>
      over;                    // (made, read): what is made may lie over what was read
  std::int64_t workspace = 0;  // occupied bytes
  double seconds = 0;          // of the compute lane
  bool exchanges = false;      // with other ranks, beside the nodes that follow
  double exchange_seconds = 0;
  std::vector<net::NodeId> awaits;  // exchanges of which it needs what they make
};

struct ValueFacts {
  std::int64_t bytes = 0;  // occupied
  net::NodeId producer = net::none;
  bool persistent = false, kept = false;
  bool streams = false;              // read or given by the step: lies in the host's memory beside the pool
  bool repeatable = false;           // its node may run again
  bool cheap = false;                // and is one pass over memory
  bool gradient = false;             // made after the forward pass
  std::vector<net::NodeId> readers;  // ascending, each once
  GapId first_gap = 0;
  std::int32_t volume = net::none;  // of which it is, or is a piece
};

// A value, or the pieces of a volume (net/steps/pieces.h): what is chosen for one piece mostly suits all.
struct VolumeFacts {
  std::vector<net::ValueId> pieces;      // in the order in which they are made
  std::vector<std::vector<GapId>> gaps;  // of the pieces, by who reads then: those with a common choice
  std::vector<std::int32_t> sources;     // volumes of which it is made, without persistent values
  std::int64_t bytes = 0;                // occupied
  bool repeatable = false, cheap = false, gradient = false;  // as of its pieces
};

struct GraphFacts {
  explicit GraphFacts(const PlanRequest& request);

  const PlanRequest* request;
  std::vector<NodeFacts> nodes;
  std::vector<ValueFacts> values;
  std::vector<VolumeFacts> volumes;
  bool in_pieces = false;  // some volume has several
  GapId gaps = 0;
  std::vector<net::ValueId> value_of_gap;
  std::int64_t persistent_bytes = 0;
  double compute_seconds = 0;
  // Of steps in pieces, passes over the volumes, as the bound has them (swap/model/volume_program.h).
  std::vector<std::int32_t> pass;  // per node
  std::size_t passes = 1;

 private:
  void find_volumes();
  void find_gaps(VolumeFacts& volume);
  void let_gradients_repeat();
  void find_passes();
};

}  // namespace voxswap::swap
