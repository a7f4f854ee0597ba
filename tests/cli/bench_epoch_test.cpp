// Tests `voxswap bench --epoch`: its figures, its options, and that it needs neither data nor the device. No
// test compares speeds.
#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

class BenchEpoch : public ProgramInAFolder {
 protected:
  BenchEpoch() {
    write("study.yaml",
          "data: {root: nowhere, modalities: [t1, t2], labels: {core: 1, edge: 2}, cache: cache}\n"
          "preprocess: {resolution: 16}\n"
          "network: {base_filters: 2, depth: 2}\n"
          "training: {batch_size: 2, augment: nnunet, loader_threads: 2}\n"
          "memory: {device: cpu}\n");
  }
  Outcome bench(const Words& more) const {
    return run_program(Words{"bench", "study.yaml", "--steps", "2", "--quiet"} + more,
                       {.log = log_, .errors = folder_ / "stderr.txt", .folder = folder_});
  }
};

void expect_sensible(const Json& epoch) {
  for (const char* rate : {"samples_per_second", "steps_per_second", "both_per_second"})
    EXPECT_GT(epoch.at(rate).get<double>(), 0) << rate;
  for (const char* share : {"wait_share", "device_busy"}) {
    EXPECT_GE(epoch.at(share).get<double>(), 0) << share;
    EXPECT_LE(epoch.at(share).get<double>(), 1) << share;
  }
  EXPECT_GT(epoch.at("device_busy").get<double>(), 0);
}

TEST_F(BenchEpoch, MeasuresSamplesStepsAndBothWithoutADataSet) {
  const Json printed = Json::parse(succeeded(bench({"--epoch", "--json", "--out", "b"})).output);
  EXPECT_EQ(printed, Json::parse(read_file(folder_ / "b/bench.json")));
  EXPECT_EQ(printed.at("steps"), 2);
  const Json& epoch = printed.at("epoch");
  expect_sensible(epoch);
  EXPECT_EQ(epoch.at("loader_threads"), 2);
  EXPECT_TRUE(epoch.at("device").is_null());
  EXPECT_FALSE(Json::parse(succeeded(bench({"--json"})).output).contains("epoch"));
}

TEST_F(BenchEpoch, WaitsForThePredictedStepOfACardThatIsNotHere) {
  const Json printed =
      Json::parse(succeeded(bench({"--epoch", "--as", "h100", "--json", "--out", "b"})).output);
  const Json& epoch = printed.at("epoch");
  expect_sensible(epoch);
  EXPECT_EQ(epoch.at("device"), "h100");
  EXPECT_DOUBLE_EQ(epoch.at("steps_per_second").get<double>(),
                   2 / printed.at("predicted_step_seconds").get<double>());
  EXPECT_FALSE(printed.contains("step_seconds_median"));
  for (const char* file : {"bench.json", "plan.json"})
    EXPECT_TRUE(bytes(std::string("b/") + file).starts_with("{")) << file;
}

TEST_F(BenchEpoch, PrintsATableThatEndsWithAConclusion) {
  const std::string table = succeeded(bench({"--epoch", "--as", "v100"})).output;
  EXPECT_TRUE(contains(table, "simulated v100", "samples alone", "2 loader threads",
                       "steps of the v100, predicted", "both", "waiting for samples", "device busy"));
  EXPECT_TRUE(contains(table, "\nLoading ", "the v100 busy") ||
              contains(table, "\nMaking samples takes time of the v100"));
}

TEST_F(BenchEpoch, RefusesOptionsThatDoNotGoTogether) {
  failed(bench({"--as", "h100"}), 2, {"Add --epoch", "voxswap plan --as h100"});
  failed(bench({"--as", "h100", "--epoch", "--trace"}), 2, {"--trace"});
  failed(bench({"--as", "h10", "--epoch"}), 2, {"Did you mean"});
}

}  // namespace
}  // namespace voxswap::cli
