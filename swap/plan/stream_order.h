// Determines which instructions of a plan are ordered: on the same stream, or by a chain of waits.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "swap/plan/plan.h"

namespace voxswap::swap {

// Vector clocks: per instruction and lane, the last instruction that is known to be done when it starts.
class StreamOrder {
 public:
  // REQUIRES: waits on earlier instructions only.
  explicit StreamOrder(const Plan& plan);

  // Whether `earlier` is done before `later` starts, however fast the streams are.
  bool before(std::int32_t earlier, std::int32_t later) const {
    return done_[static_cast<std::size_t>(later)][lane(earlier)] >= earlier;
  }
  std::size_t lane(std::int32_t instruction) const { return lane_[static_cast<std::size_t>(instruction)]; }

 private:
  using Clock = std::array<std::int32_t, lane_count>;
  void merge(Clock& clock, std::int32_t earlier) const;

  std::vector<std::size_t> lane_;  // of every instruction
  std::vector<Clock> done_;
};

}  // namespace voxswap::swap
