// Tests the state of a run derived from the files that it has written so far.
#include "pipeline/report/run_progress.h"

#include <cmath>

#include "base/error.h"
#include "base/folder_lock.h"
#include "base/terminal.h"
#include "tests/expect.h"
#include "tests/pipeline/made_up_runs.h"

namespace voxswap::pipeline {
namespace {

class Progress : public MadeUpRuns {
 protected:
  // A run with four epochs, two of them in the table of Dice.
  fs::path going_run(const std::string& epochs = "10") const {
    const fs::path run = make_run("run", "mine", "48");
    for (const char* file : {"dice.csv", "timing.csv"}) fs::remove(run / file);
    write_file(run / "experiment.yaml", format("training:\n  epochs: {}\n  repeats: 1\n", epochs));
    return run;
  }
  std::string text(const RunProgress& progress, std::size_t columns = 100) const {
    return join(progress_lines(progress, columns), "\n");
  }
};

TEST_F(Progress, ReportsWhatARunningRunHasReached) {
  const fs::path run = going_run();
  const FolderLock lock(run);
  RunProgress progress = run_progress(run, made_up_settings);
  EXPECT_EQ(progress.state, RunProgress::State::running);
  EXPECT_EQ(progress.epoch, 4);
  EXPECT_EQ(progress.best_epoch, 4);
  EXPECT_EQ(progress.train_losses.size(), 4u);
  EXPECT_DOUBLE_EQ(progress.epoch_seconds, 2.25);
  ASSERT_TRUE(seconds_left(progress));
  EXPECT_LE(*seconds_left(progress), 6 * 2.25);
  EXPECT_GE(*seconds_left(progress), 5 * 2.25);
  ASSERT_TRUE(progress.resident_bytes);  // this process holds the folder
  EXPECT_GT(*progress.resident_bytes, 1 << 20);
  EXPECT_EQ(text(progress).find("mine: running, epoch 4 of 10, "), 0u);
  EXPECT_EQ(progress_json(progress)["state"], "running");
  EXPECT_TRUE(progress_head(progress).ends_with(" of training left"));
  progress.is_earlier_stage = true;
  EXPECT_TRUE(progress_head(progress).ends_with(" of training left on this grid"));
}

TEST_F(Progress, DistinguishesStoppedTrainedAndFinishedRuns) {
  const fs::path run = going_run();
  EXPECT_EQ(run_progress(run, made_up_settings).state, RunProgress::State::stopped);
  EXPECT_FALSE(seconds_left(run_progress(run, made_up_settings)));
  EXPECT_FALSE(run_progress(run, made_up_settings).resident_bytes);
  TimingRow timing;
  timing.run = "mine";
  write_csv(run / "timing.csv", csv_of<TimingRow>({timing}));
  EXPECT_EQ(run_progress(run, made_up_settings).state, RunProgress::State::trained);
  EXPECT_EQ(run_progress(make_run("other", "done", "48"), made_up_settings).state,
            RunProgress::State::finished);
}

TEST_F(Progress, SaysSoBeforeTheFirstEpochAndOfFoldersThatAreNoRun) {
  const fs::path run = going_run();
  for (const char* file : {"epochs.csv", "validation.csv"}) fs::remove(run / file);
  EXPECT_TRUE(test::contains(text(run_progress(run, made_up_settings)), "no epoch is finished yet"));
  test::expect_failure([&] { run_progress(folder_ / "nothing", made_up_settings); }, Exit::bad_data);
}

TEST_F(Progress, NeverTakesMoreColumnsThanThereAre) {
  const RunProgress progress = run_progress(going_run(), made_up_settings);
  for (const std::size_t columns : {1u, 20u, 40u, 80u, 200u})
    for (const std::string& line : progress_lines(progress, columns)) EXPECT_LE(shown_width(line), columns);
}

TEST(Sparkline, GoesFromTheLowestToTheHighestOfTheLastValues) {
  EXPECT_EQ(sparkline({0, 7, 3.5}, 10), "▁█▅");
  EXPECT_EQ(sparkline({100, 1, 2}, 2), "▁█");
  EXPECT_EQ(sparkline({5, 5}, 4), "▁▁");
  EXPECT_EQ(sparkline({1, NAN, 2}, 4), "▁ █");
  EXPECT_EQ(sparkline({}, 4), "");
}

}  // namespace
}  // namespace voxswap::pipeline
