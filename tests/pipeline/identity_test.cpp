// Tests the identity of a run, and which options may change when it is resumed.
#include "pipeline/record/identity.h"

#include <gtest/gtest.h>

#include "tests/expect.h"

namespace voxswap::pipeline {
namespace {

std::string run_with(const SettingList& settings) {
  return identify({}, settings, {{"case", "content"}}, Csv{{"case", "part"}, {}}).run;
}

TEST(Identity, IsOfWhatBearsOnTheWeightsAlone) {
  const std::string run = run_with({{"some.key", "1", Decides::model}});
  for (const Decides decides : {Decides::nothing, Decides::name, Decides::source, Decides::memory,
                                Decides::scores, Decides::shown, Decides::epochs, Decides::stop}) {
    const SettingList more = {{"some.key", "1", Decides::model}, {"other.key", "2", decides}};
    EXPECT_EQ(run_with(more), run) << static_cast<int>(decides);
  }
  for (const Decides decides :
       {Decides::data, Decides::fold, Decides::resolution, Decides::model, Decides::chance})
    EXPECT_NE(run_with({{"some.key", "2", decides}}), run) << static_cast<int>(decides);
}

TEST(Identity, LetsARunBeTrainedLongerWhereTheRateDoesNotFollowTheLength) {
  Experiment experiment;
  for (const auto& [schedule, may] : {std::pair(Schedule::plateau, true), std::pair(Schedule::constant, true),
                                      std::pair(Schedule::poly, false), std::pair(Schedule::cosine, false)}) {
    experiment.training.schedule.name = schedule;
    EXPECT_EQ(may_change(Decides::epochs, experiment), may) << choice_name(schedule);
    EXPECT_TRUE(may_change(Decides::nothing, experiment));
    EXPECT_FALSE(may_change(Decides::model, experiment));
  }
  experiment.training.schedule.name = Schedule::constant;
  experiment.training.averaging.name = Averaging::swa;
  EXPECT_FALSE(may_change(Decides::epochs, experiment)) << "which begins where the last quarter does";
  experiment.training.averaging.start = 5;
  EXPECT_TRUE(may_change(Decides::epochs, experiment));
}

TEST(Identity, ResumesRunsThatWereSplitBeforePatientsWereKnownByName) {
  const auto with = [](const char* patients) {
    return SettingList{{"data.split.patient", patients, Decides::data}};
  };
  const RunIdentity before = identify({}, with("none"), {}, Csv{{"case", "part"}, {}});
  EXPECT_NO_THROW(check_experiment(before, {}, with("auto"), {""}));
  test::expect_failure([&] { check_experiment(before, {}, with("{patient}_*"), {""}); }, Exit::bad_data,
                       {"data.split.patient was none, now {patient}_*"});
}

// Earlier versions computed all samples of a batch in one kernel and did not record this.
TEST(Identity, RefusesToGoOnWithBatchesThatAnOlderVersionTookAtOnce) {
  Experiment experiment;
  const auto begun = [&](std::int64_t batch) {
    experiment.training.batch_size = batch;
    return identify(experiment, {}, {}, Csv{{"case", "part"}, {}});
  };
  const RunIdentity silent = begun(1), several = begun(2);
  EXPECT_NO_THROW(check_batches(several, experiment));
  test::expect_failure([&] { check_batches(silent, experiment); }, Exit::bad_data,
                       {"computed the 2 samples of a batch at once"});
  experiment.training.batch_size = 1;
  EXPECT_NO_THROW(check_batches(silent, experiment));
}

}  // namespace
}  // namespace voxswap::pipeline
