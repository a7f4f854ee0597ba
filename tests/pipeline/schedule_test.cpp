#include "pipeline/train/schedule.h"

#include <gtest/gtest.h>

namespace voxswap::pipeline {
namespace {

TrainingOptions with_schedule(Schedule name) {
  TrainingOptions options;
  options.epochs = 100;
  options.schedule.name = name;
  options.schedule.patience = 3;
  options.early_stop = 8;
  options.optimizer.learning_rate = 1;
  return options;
}

TEST(Schedule, PlateauHalvesTheRateAfterPatienceEpochsWithoutImprovement) {
  const TrainingOptions options = with_schedule(Schedule::plateau);
  ScheduleState state;
  EXPECT_TRUE(finish_epoch(options, state, 1, -0.5));
  for (std::int64_t epoch = 2; epoch <= 4; ++epoch) {
    EXPECT_EQ(learning_rate(options, state, epoch), 1.0);
    EXPECT_FALSE(finish_epoch(options, state, epoch, -0.4));
  }
  EXPECT_EQ(learning_rate(options, state, 5), 0.5);
  // An improvement too small for the plateau still makes the best weights.
  EXPECT_TRUE(finish_epoch(options, state, 5, -0.50001));
  EXPECT_EQ(state.best_epoch, 5);
}

TEST(Schedule, StopsAfterTheLastEpochOrWithoutImprovement) {
  const TrainingOptions options = with_schedule(Schedule::constant);
  ScheduleState state;
  finish_epoch(options, state, 1, 0);
  EXPECT_FALSE(should_stop(options, state, 8));
  EXPECT_TRUE(should_stop(options, state, 9));
  state.best_epoch = 99;
  EXPECT_TRUE(should_stop(options, state, 100));
}

TEST(Schedule, PolyAndCosineFallFromTheFullRateTowardsZero) {
  for (const Schedule name : {Schedule::poly, Schedule::cosine}) {
    const TrainingOptions options = with_schedule(name);
    const ScheduleState state;
    EXPECT_EQ(learning_rate(options, state, 1), 1.0) << choice_name(name);
    double before = 1.01;
    for (std::int64_t epoch = 1; epoch <= 100; ++epoch) {
      EXPECT_LT(learning_rate(options, state, epoch), before);
      before = learning_rate(options, state, epoch);
    }
    EXPECT_GT(before, 0);
    EXPECT_LT(before, 0.02);
  }
  EXPECT_NEAR(learning_rate(with_schedule(Schedule::cosine), {}, 51), 0.5, 1e-12);
}

}  // namespace
}  // namespace voxswap::pipeline
