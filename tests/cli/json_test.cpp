// Output for scripts: JSON instead of tables.
#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

class JsonOutput : public ProgramInAFolder {
 protected:
  JsonOutput() {
    phantoms("3", "16");
    write_file(folder_ / "tiny.yaml",
               "data: {root: data, cache: cache}\npreprocess: {resolution: 16}\n"
               "network: {name: unet3d, base_filters: 2, depth: 2}\n"
               "training: {epochs: 2, precision: f32, log: [csv, jsonl]}\nmemory: {planner: keep}\n");
  }
  // Stdout contains only JSON.
  Json json(const Words& arguments) const {
    const Outcome outcome = succeeded(
        run_program(arguments + Words{"--json", "--quiet"}, {.log = log_, .errors = folder_ / "errors"}));
    return Json::parse(outcome.output, nullptr, false);
  }
  const std::string tiny_ = path("tiny.yaml"), run_ = path("run");
};

TEST_F(JsonOutput, OfDryRunsHasEveryKeyAndTheForecast) {
  const Json dry = json({"run", tiny_, "--dry-run"});
  EXPECT_EQ(dry["experiment"]["training.epochs"], "2");
  EXPECT_GT(dry["forecast"]["device_peak_bytes"], 0);
  EXPECT_EQ(dry["forecast"]["validation_cases"], 1);
  const Json cells = json({"sweep", tiny_, "training.seed=1,2", "--dry-run", "--estimate"});
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_TRUE(cells[1]["fits"]);
  EXPECT_GT(cells[1]["memory_bytes"], 0);
}

TEST_F(JsonOutput, OfARunHasItsScoresAndWatchReportsThatItIsFinished) {
  const Json run = json({"run", tiny_, "--out", run_});
  EXPECT_EQ(run["run"], run_);
  ASSERT_EQ(run["dice"].size(), 3u);  // for one case, one per region
  EXPECT_EQ(run["dice"][0]["region"], "whole_tumor");
  EXPECT_TRUE(run["dice"][0]["dice"].is_number());
  EXPECT_EQ(run["dice"][0]["resolution"], "16");  // a name, not a number
  const Json watched = json({"watch", run_});
  EXPECT_EQ(watched["state"], "finished");
  EXPECT_EQ(watched["train_losses"].size(), 2u);
  const Outcome look = done({"watch", run_});
  EXPECT_EQ(look.output.find("tiny: finished, epoch 2 of 2\n"), 0u) << look.output;
  EXPECT_EQ(look.output.find('\033'), look.output.npos);
  EXPECT_TRUE(fs::exists(folder_ / "run" / "log.jsonl"));
}

}  // namespace
}  // namespace voxswap::cli
