#include <gtest/gtest.h>

#include "pipeline/train/schedule.h"

namespace voxswap::pipeline {
namespace {

// 3 epochs of 4 steps with batches of 2, 2 validation cases after each and again at the end.
TimeLeft run() {
  return TimeLeft({12, 6, 2}, 2, 6.0);
}

TEST(TimeLeft, FollowsThePlanBeforeAnythingWasTimed) {
  // 12 steps of 6 s, and 8 forward passes of one volume: 6 s / 3 / 2.
  EXPECT_DOUBLE_EQ(run().seconds(), 12 * 6 + 8 * 1.0);
}

TEST(TimeLeft, IsThatOfTheWholeRunAtThePaceSoFar) {
  TimeLeft left = run();
  left.timed_step(2);
  left.timed_step(4);
  left.stand_at({2, 0, 0});
  EXPECT_DOUBLE_EQ(left.seconds(), 10 * 3 + 8 * 0.5);
  left.timed_validation(7);
  left.stand_at({4, 1, 0});
  EXPECT_DOUBLE_EQ(left.seconds(), 8 * 3 + 7 * 7.0);
}

TEST(TimeLeft, EndsAtNothing) {
  TimeLeft left = run();
  left.stand_at({13, 6, 2});  // a run that was given fewer epochs than it had behind it
  EXPECT_EQ(left.seconds(), 0);
}

}  // namespace
}  // namespace voxswap::pipeline
