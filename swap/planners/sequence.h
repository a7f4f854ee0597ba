// The order in which nodes run when some values are made again instead of being kept: the graph's nodes in
// their order, with runs of earlier nodes in between.
#pragma once

#include <optional>
#include <vector>

#include "swap/planners/digest.h"

namespace voxswap::swap {

// One life of a value, from where it is made to its last use: steps in which it is needed on the device.
struct Life {
  net::ValueId value = net::none;
  std::int32_t made = 0;          // step; -1: there before the first
  std::int32_t last = 0;          // step of the last use, `made` without any; kept values: the last step
  std::int32_t over = net::none;  // life whose place it takes over at `made`
  bool left = false;              // some later life takes its place over
};

struct SequenceStep {
  net::NodeId node = net::none;
  bool again = false;
};

// A time without a use of a life between two of them, and how a schedule lets the life leave in it
// (schedule.h).
struct Stretch {
  std::int32_t life = net::none;
  std::int32_t a = 0, b = 0;      // steps of the uses around it; a = -1: before the first step
  std::int32_t e = 0, s = 0;      // a <= e < s <= b; e = a - 1 where its place is taken over
  bool first = true;              // the life leaves here for the first time: later a copy is outside already
  std::int32_t c = a;             // step after which the copy out starts, if first: c <= a, c <= e
  std::int32_t heir = net::none;  // life made at step a over this one, of which a copy is outside by then

  std::int32_t free_from() const {
    return heir == net::none ? a + 1 : a;
  }  // first step that counts without it
};

struct Sequence {
  std::vector<SequenceStep> steps;
  std::vector<Life> lives;
  std::vector<Stretch> idle;  // all times in which a life is idle for a step or more, by b
};

// `again`, per gap: the value is dropped at the gap's begin and made again when it is next needed. What was
// dropped and is needed to make something else again is made for that alone when it is cheap to
// make again from what is on hand, and otherwise kept from then until its own reader,
// unless it is one of those (`alone`, per value) that are made for every reader anew. Empty when a node would
// have to run again after its parameters were updated, or when there would be more than four times as many
// runs as nodes.
std::optional<Sequence> expand(const Digest& digest, const std::vector<bool>& again,
                               const std::vector<bool>& alone = {});

// All idle stretches by life, then by a: candidates for planners with rules of their own.
std::vector<Stretch> idle_stretches(const Sequence& sequence);

// Bytes per step when nothing leaves.
std::vector<std::int64_t> memory_of(const Digest& digest, const Sequence& sequence);

}  // namespace voxswap::swap
