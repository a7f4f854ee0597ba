// A lower bound of the step time for steps that pass over their volumes many times. Unlike the relaxation
// (relaxation.h) this linear program knows that a recomputed value needs its inputs.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "swap/model/costs.h"
#include "swap/model/needs.h"

namespace voxswap::swap {

// No plan is shorter. `node_seconds`: on the compute lane, so 0 for exchanges.
// REQUIRES: every node's working set fits.
double volume_program_seconds(const net::Graph& graph, const Needs& needs,
                              const std::vector<double>& node_seconds, const CostModel& costs,
                              const Budgets& budgets);

// The step as passes over its volumes: what the linear program in volume_program.h is about. A volume is a
// value, or all pieces of one (net/steps/pieces.h). Borders divide the step where the fewest volumes are half
// made or half read, as at a norm's two passes; in a segment between two of them a volume is then needed
// whole or not at all.
struct MovedVolume {
  std::vector<net::ValueId> pieces;  // from the first planes to the last
  double bytes = 0;
  bool read = false;             // an input, which lies outside too
  std::size_t from = 0, to = 0;  // segments in which it may be of use, [from, to)
  std::vector<double> made,
      needed;  // of all segments: parts of it that nodes make and read for the first time
  // To make all of it again, by the rate of the piece that takes least; infinite: it cannot be.
  double again_seconds = std::numeric_limits<double>::infinity();
  // Of every unit that is made again so many units of the source, in proportion to its bytes, have to be
  // there.
  struct Source {
    std::size_t volume = 0;
    double units = 0;
  };
  std::vector<Source> sources;
};

// What the nodes of one operation need in a segment while they run, on average over them.
struct VolumeMoment {
  double working = 0;  // bytes of their working sets
  // Volumes they read, and at most which part of the nodes a byte of it is read by.
  struct Read {
    std::size_t volume = 0;
    double part = 0;
  };
  std::vector<Read> reads;
};

struct VolumeSegments {
  std::vector<std::size_t> begins;  // per segment: its first node
  std::vector<double> compute;      // per segment: seconds of every node once
  double all_room = 0;              // bytes of the device beside persistent values
  std::vector<double> room;         // per segment: bytes for volumes when its first node begins
  std::vector<std::vector<VolumeMoment>> moments;  // per segment: operations with the largest working sets
  std::vector<MovedVolume> volumes;
};

// `room`: bytes of the device beside persistent values. Small volumes are left out, and those that are
// exchanged.
VolumeSegments find_segments(const net::Graph& graph, const Needs& needs,
                             const std::vector<double>& node_seconds, double room);

}  // namespace voxswap::swap
