// Tests that the position in a checkpoint is accepted only if a training can reach it.
#include "pipeline/train/position.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/expect.h"

namespace voxswap::pipeline {
namespace {

constexpr std::int64_t epochs = 20, steps = 5;

Position example() {
  Position position;
  position.epoch = 3;
  position.step = 2;
  position.total_steps = 12;  // two epochs of five, and two
  position.loss_sum = -0.75;
  position.train_seconds = 1.5;
  position.moved.out_bytes = 1 << 20;
  position.schedule = {-0.5, -0.25, 2, 1, 1e-4};
  return position;
}

Checkpoint as_checkpoint(const Position& position) {
  return {to_metadata(position), {}};
}

TEST(Position, ReadsBackWhatWasWritten) {
  const Position back = to_position(as_checkpoint(example()), epochs, steps, "here");
  EXPECT_EQ(to_metadata(back), to_metadata(example()));
  EXPECT_EQ(back.epoch, 3);
  EXPECT_EQ(back.total_steps, 12);
  EXPECT_EQ(back.schedule.best_epoch, 2);
  EXPECT_EQ(back.schedule.rate, 1e-4);
}

TEST(Position, MayBeBeforeTheFirstStepAndBehindTheLastEpoch) {
  const Position start;  // no loss is known yet
  EXPECT_EQ(to_metadata(to_position(as_checkpoint(start), epochs, steps, "")), to_metadata(start));
  Position end;
  end.epoch = epochs + 1;
  end.total_steps = epochs * steps;
  end.finished = true;
  end.schedule.best_epoch = epochs;
  EXPECT_TRUE(to_position(as_checkpoint(end), epochs, steps, "").finished);
}

TEST(Position, IsRefusedWhereNoTrainingComesTo) {
  struct Bad {
    const char *key, *text, *says;
  };
  const char *position = "position", *schedule = "schedule";
  const std::vector<Bad> table = {
      {position, "0 2 12 -0.75 1.5 0 0 0 1 0 0",
       "the current epoch is 0, expected a whole number from 1 to 21"},
      {position, "-5 2 12 -0.75 1.5 0 0 0 1 0 0", "is -5"},
      {position, "1e18 2 12 -0.75 1.5 0 0 0 1 0 0", "is 1e+18"},
      {position, "1e300 2 12 -0.75 1.5 0 0 0 1 0 0", "is 1e+300"},
      {position, "100 2 12 -0.75 1.5 0 0 0 1 0 0", "is 100"},
      {position, "nan 2 12 -0.75 1.5 0 0 0 1 0 0", "is nan"},
      {position, "inf 2 12 -0.75 1.5 0 0 0 1 0 0", "is inf"},
      {position, "3.5 2 12 -0.75 1.5 0 0 0 1 0 0", "is 3.5"},
      {position, "text 2 12 -0.75 1.5 0 0 0 1 0 0", "contains 'text'"},
      {position, "3x 2 12 -0.75 1.5 0 0 0 1 0 0", "contains '3x'"},
      {position, "", "has 0 numbers, expected 11"},
      {position, "3 2 12", "has 3 numbers"},
      {position, "3 6 16 -0.75 1.5 0 0 0 1 0 0", "the number of steps in it is 6"},
      {position, "3 -1 9 -0.75 1.5 0 0 0 1 0 0", "the number of steps in it is -1"},
      {position, "3 2 13 -0.75 1.5 0 0 0 1 0 0", "the total number of steps is 13"},
      {position, "3 2 12 nan 1.5 0 0 0 1 0 0", "losses is nan"},
      {position, "3 2 12 -0.75 -1 0 0 0 1 0 0", "the training time of the epoch is -1"},
      {position, "3 2 12 -0.75 1.5 0 2 0 1 0 0", "the end of training is 2"},
      {position, "3 2 12 -0.75 1.5 0 0 0 -1 0 0", "the bytes swapped out is -1"},
      {schedule, "nan -0.25 2 1 1e-4", "the lowest validation loss is nan"},
      {schedule, "-0.5 -0.25 3 1 1e-4", "the best epoch is 3"},
      {schedule, "-0.5 -0.25 2 9 1e-4", "the epochs without improvement is 9"},
      {schedule, "-0.5 -0.25 2 1 -1", "the learning rate is -1"},
      {schedule, "-0.5 -0.25 2 1 inf", "the learning rate is inf"},
  };
  for (const Bad& bad : table) {
    Checkpoint checkpoint = as_checkpoint(example());
    checkpoint.metadata[bad.key] = bad.text;
    SCOPED_TRACE(bad.text);
    test::expect_failure([&] { to_position(checkpoint, epochs, steps, "last.safetensors"); }, Exit::bad_data,
                         {bad.says});
  }
}

}  // namespace
}  // namespace voxswap::pipeline
