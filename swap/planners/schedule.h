// Which lives leave the device in which of their idle stretches, and when their places are given up and taken
// again: everything of a plan but the offsets, on the time line of the sequence's steps.
//
// A value that leaves during a stretch, between a step that used it and one where it is needed, is copied out
// as soon as the first is done, or earlier, from the step that makes it on, where the link has the time: to
// be read does not change it. It is held until the copy is done, or the place is needed, has a place again
// where it is back and is copied in from then on, to be there when needed. Where memory is shortest, the step
// that uses it writes its own result over it (as in place, if it may): then the copy out is done before that
// step. An input is outside from the beginning, and what is read after the step may leave for good.
#pragma once

#include <vector>

#include "swap/plan/disk_blocks.h"
#include "swap/planners/sequence.h"

namespace voxswap::swap {

struct Schedule {
  Sequence sequence;
  std::vector<IdleTime> stretches;   // in which lives are away; by life, then by `used`
  std::vector<bool> on_disk;         // per life: away means on disk
  std::vector<std::int64_t> memory;  // per step, of the device
  double seconds = 0;                // estimated
  double excess = 0;                 // bytes by which it is over a budget; 0: it fits
  double moved_bytes = 0;            // both ways
};

// The part of the host pool through which values pass on their way to disk and back, where a plan uses the
// disk.
constexpr std::int64_t passage_bytes(std::int64_t host_budget) {
  constexpr std::int64_t least = 6 * disk_block;  // four blocks out, two in
  return host_budget / 4 > least ? host_budget / 4 : least;
}

}  // namespace voxswap::swap
