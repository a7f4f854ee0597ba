#include "base/progress.h"

#include <gtest/gtest.h>

#include "base/terminal.h"
#include "base/text.h"

namespace voxswap {
namespace {

ProgressState epoch() {
  return {"epoch 12/60", "steps", 5, 26, 0.8, 725, "loss -0.7112"};
}

TEST(ProgressLine, ShowsAllFiguresAndABarIn80Columns) {
  EXPECT_EQ(progress_line(epoch(), 79),
            "epoch 12/60 [#........] 5/26 steps, 1.25 s/step, 12 min 05 s left, loss -0.7112");
}

TEST(ProgressLine, LeavesFiguresOutWhereThereIsNoRoomForThem) {
  EXPECT_EQ(progress_line(epoch(), 59), "epoch 12/60 5/26 steps, 1.25 s/step, 12 min 05 s left");
  EXPECT_EQ(progress_line(epoch(), 39), "epoch 12/60 5/26, 12 min 05 s left");
  EXPECT_EQ(progress_line(epoch(), 19), "epoch 12/60 5/26");
  EXPECT_EQ(progress_line(epoch(), 10), "epoch 12/6");
}

TEST(ProgressLine, NeverTakesMoreColumnsThanThereAre) {
  const ProgressState wordy = {"repeat 10/10 epoch 1000/1000 für große Köpfe",
                               "steps",
                               99999,
                               100000,
                               123456.789,
                               1e7,
                               "loss -0.7112"};
  for (std::size_t columns = 0; columns <= 200; ++columns) {
    EXPECT_LE(shown_width(progress_line(epoch(), columns)), columns);
    EXPECT_LE(shown_width(progress_line(wordy, columns)), columns);
  }
}

TEST(ProgressLine, FillsItsBarWithTheShareThatIsDone) {
  const ProgressState half = {"checking", "cases", 5, 10, 2, 2.5, ""};
  EXPECT_EQ(progress_line(half, 200),
            "checking [############............] 5/10 cases, 2.00 cases/s, 2.5 s left");
  const ProgressState too_much = {"checking", "cases", 11, 10, 0, {}, ""};
  EXPECT_EQ(progress_line(too_much, 200), "checking [########################] 11/10 cases");
}

TEST(ProgressFigures, TellSecondsEachOfWhatTakesLongerThanOne) {
  ProgressState state{"predicting", "cases", 1, 3, 1.0 / 90, 180, ""};
  EXPECT_EQ(progress_figures(state), "1/3 cases, 1 min 30 s/case, 3 min 00 s left");
  state.rate = 4;
  EXPECT_EQ(progress_figures(state), "1/3 cases, 4.00 cases/s, 3 min 00 s left");
  state.rate = 0;
  state.seconds_left.reset();
  EXPECT_EQ(progress_figures(state), "1/3 cases");
}

}  // namespace
}  // namespace voxswap
