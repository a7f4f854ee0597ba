// A lower bound of the step time for steps in slabs, which pass over their volumes many times. Unlike the
// relaxation (relaxation.h), this linear program counts the inputs of recomputations.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "swap/model/costs.h"
#include "swap/model/needs.h"

namespace voxswap::swap {

// `node_seconds`: on the compute lane, so 0 for exchanges.
// REQUIRES: every node's working set fits.
double volume_program_seconds(const net::Graph& graph, const Needs& needs,
                              const std::vector<double>& node_seconds, const CostModel& costs,
                              const Budgets& budgets);

// A volume of the linear program: a value, or all slabs of one (net/steps/slabs.h). Borders divide the step
// where the fewest volumes are partly produced or partly read, as between the two passes of a norm. A segment
// between two borders then mostly needs a volume whole or not at all.
struct MovedVolume {
  std::vector<net::ValueId> slabs;  // by depth
  double bytes = 0;
  bool read = false;                     // an input, with a copy in host memory
  std::size_t from = 0, to = 0;          // segments in which it may be used, [from, to)
  std::vector<double> produced, needed;  // per segment: fractions of it produced, and read for the first time
  // To recompute all of it, at the rate of the cheapest slab; infinite: not recomputable.
  double recompute_seconds = std::numeric_limits<double>::infinity();
  // Recomputing a fraction of the volume needs `units` times that fraction of the source.
  struct Source {
    std::size_t volume = 0;
    double units = 0;
  };
  std::vector<Source> sources;
};

// The memory of one operation in a segment, averaged over its nodes.
struct VolumeMoment {
  double working = 0;  // bytes of their working sets
  // Volumes they read, and the largest fraction of the nodes that read one byte of it.
  struct Read {
    std::size_t volume = 0;
    double part = 0;
  };
  std::vector<Read> reads;
};

struct VolumeSegments {
  std::vector<std::size_t> begins;  // per segment: its first node
  std::vector<double> compute;      // per segment: seconds of every node once
  double all_room = 0;              // device bytes without persistent values
  std::vector<double> room;         // per segment: bytes left for volumes when its first node begins
  std::vector<std::vector<VolumeMoment>> moments;  // per segment: operations with the largest working sets
  std::vector<MovedVolume> volumes;
};

// `room`: device bytes without persistent values. Small volumes and exchanged ones are ignored.
VolumeSegments find_segments(const net::Graph& graph, const Needs& needs,
                             const std::vector<double>& node_seconds, double room);

}  // namespace voxswap::swap
