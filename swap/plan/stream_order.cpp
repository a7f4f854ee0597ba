#include "swap/plan/stream_order.h"

#include <algorithm>

namespace voxswap::swap {

StreamOrder::StreamOrder(const Plan& plan) {
  Clock latest;
  latest.fill(net::none);
  lane_.reserve(plan.instructions.size());
  done_.reserve(plan.instructions.size());
  for (const Instruction& instruction : plan.instructions) {
    const auto lane = static_cast<std::size_t>(instruction.lane());
    Clock clock;
    clock.fill(net::none);
    merge(clock, latest[lane]);
    for (const std::int32_t other : instruction.waits) merge(clock, other);
    latest[lane] = static_cast<std::int32_t>(done_.size());
    lane_.push_back(lane);
    done_.push_back(clock);
  }
}

void StreamOrder::merge(Clock& clock, std::int32_t earlier) const {
  if (earlier == net::none) return;
  const auto at = static_cast<std::size_t>(earlier);
  for (std::size_t lane = 0; lane < lane_count; ++lane) clock[lane] = std::max(clock[lane], done_[at][lane]);
  clock[lane_[at]] = std::max(clock[lane_[at]], earlier);
}

}  // namespace voxswap::swap
