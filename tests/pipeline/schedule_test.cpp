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
  // An improvement too small for the plateau still counts as the best epoch.
  EXPECT_TRUE(finish_epoch(options, state, 5, -0.50001));
  EXPECT_EQ(state.best_epoch, 5);
}

TEST(Schedule, StopsAfterTheLastEpochOrWithoutImprovement) {
  const TrainingOptions options = with_schedule(Schedule::constant);
  ScheduleState state;
  finish_epoch(options, state, 1, 0);
  EXPECT_FALSE(should_stop(options, state, 8));
  EXPECT_TRUE(should_stop(options, state, 9));
  EXPECT_FALSE(should_stop(options, state, 9, /*best_of_average=*/2));
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

// Goyal et al. 2017 train ResNet-50 with rate 0.1 for batch 256, and with 3.2 for batch 8192.
TEST(Schedule, ScalesTheRateWithTheBatchOrItsRoot) {
  TrainingOptions options = with_schedule(Schedule::constant);
  options.optimizer.learning_rate = 0.1;
  options.batch_size = 8192;
  options.rate.reference_batch = 256;
  EXPECT_EQ(learning_rate(options, {}, 1), 0.1);  // scaling is off by default
  options.rate.scaling = RateScaling::linear;
  EXPECT_DOUBLE_EQ(learning_rate(options, {}, 1), 3.2);
  options.rate.scaling = RateScaling::sqrt;
  EXPECT_DOUBLE_EQ(learning_rate(options, {}, 1), 0.1 * 5.656854249492381);  // the root of 32
  options.batch_size = 64;  // a smaller batch has a lower rate
  EXPECT_DOUBLE_EQ(learning_rate(options, {}, 1), 0.05);
}

TEST(Schedule, ScalesWhateverTheRateThenDoes) {
  for (const Schedule name : {Schedule::plateau, Schedule::poly, Schedule::cosine, Schedule::constant}) {
    TrainingOptions options = with_schedule(name);
    options.batch_size = 8;
    const ScheduleState reduced = {.rate = 0.5};  // reduced from the scaled rate by a plateau
    const double before = learning_rate(options, {}, 40);
    options.rate.scaling = RateScaling::linear;
    EXPECT_DOUBLE_EQ(learning_rate(options, {}, 40), 8 * before) << choice_name(name);
    if (name != Schedule::plateau) continue;
    EXPECT_EQ(learning_rate(options, reduced, 40), 0.5);
  }
}

TEST(Schedule, WarmsUpEvenlyFromTheFirstStep) {
  TrainingOptions options = with_schedule(Schedule::constant);
  EXPECT_EQ(warm_up_share(options, 0, 4), 1);  // no warm-up
  options.schedule.warm_up = 1.25;             // five steps of four an epoch
  const double shares[] = {0.2, 0.4, 0.6, 0.8, 1, 1, 1};
  for (std::int64_t step = 0; step < 7; ++step) EXPECT_EQ(warm_up_share(options, step, 4), shares[step]);
  options.schedule.warm_up = 0.1;  // less than a step
  EXPECT_EQ(warm_up_share(options, 0, 4), 1);
}

TEST(Schedule, APlateauInTheWarmUpReducesTheFullRate) {
  TrainingOptions options = with_schedule(Schedule::plateau);
  options.schedule.warm_up = 50;
  ScheduleState state;
  finish_epoch(options, state, 1, -0.5);
  for (std::int64_t epoch = 2; epoch <= 4; ++epoch) finish_epoch(options, state, epoch, -0.5);
  EXPECT_EQ(learning_rate(options, state, 5), 0.5);
}

// 3 epochs of 4 steps with batches of 2; 2 validation cases after each epoch and at the end.
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
  left.stand_at({13, 6, 2});  // resumed with fewer epochs than it has done
  EXPECT_EQ(left.seconds(), 0);
}

}  // namespace
}  // namespace voxswap::pipeline
