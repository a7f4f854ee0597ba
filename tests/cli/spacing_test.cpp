// A run on cases of different voxel sizes: prepared at one spacing, padded, predicted on their own grids.
#include <gtest/gtest.h>

#include "base/csv.h"
#include "base/text.h"
#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

class RunAtASpacing : public ProgramInAFolder {
 protected:
  void SetUp() override {
    make("data", "24");
    make("finer", "30,28,26");
    for (int i = 0; i < 3; ++i) {  // as cases 4 to 6 of the others
      const std::string from = format("BraTS2021_{:05}", i), to = format("BraTS2021_{:05}", i + 3);
      fs::create_directory(folder_ / "data" / to);
      for (const fs::directory_entry& file : fs::directory_iterator(folder_ / "finer" / from)) {
        const std::string name = file.path().filename().string();
        fs::rename(file.path(), folder_ / "data" / to / (to + name.substr(from.size())));
      }
    }
    write_file(folder_ / "experiment.yaml", R"(name: spaced
data: {root: data, modalities: [flair]}
preprocess: {resolution: 28, spacing: auto}
network: {base_filters: 4, depth: 3}
training: {epochs: 2}
evaluate: {at: [native, training], metrics: [dice]}
)");
  }
  void make(const std::string& name, const std::string& size) {
    ASSERT_EQ(program({"phantom", "--out", (folder_ / name).string(), "--cases", "3", "--size", size,
                       "--seed", "3"})
                  .code,
              0);
  }
  Outcome run(const std::string& out, const Words& more) {
    Words words = {"run", (folder_ / "experiment.yaml").string(), "--out", (folder_ / out).string(),
                   "data.cache=" + cache_.string()};
    words.insert(words.end(), more.begin(), more.end());
    return program(words);
  }
  // `predict` finds what the run found for its validation cases.
  void expect_same_predictions(const std::string& run, const std::string& data) {
    const fs::path out = folder_ / (run + "_predicted");
    const Outcome predicted = program(
        {"predict", (folder_ / run).string(), "--input", (folder_ / data).string(), "--out", out.string()});
    ASSERT_EQ(predicted.code, 0) << predicted.output;
    const Csv dice = read_csv(folder_ / run / "dice.csv");
    const std::string name = dice.rows.front()[dice.column("case", "dice.csv")] + ".nii.gz";
    EXPECT_EQ(read_file(folder_ / run / "predictions" / name), read_file(out / name));
  }
  void expect_scores(const std::string& out) {
    const Csv dice = read_csv(folder_ / out / "dice.csv");
    EXPECT_FALSE(dice.rows.empty());
    for (const auto& row : dice.rows) {
      const double value = std::stod(row[dice.column("dice", "dice.csv")]);
      EXPECT_TRUE(value >= 0 && value <= 1) << value;
    }
  }
};

TEST_F(RunAtASpacing, PadsWholeVolumesAndPredictsNewScans) {
  const Outcome outcome = run("whole", {});
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  expect_scores("whole");
  // `auto` was the median of 10, 10, 10, 8, 8, 8 and so on, and is not chosen again.
  const std::string resolved = read_file(folder_ / "whole/experiment.yaml");
  EXPECT_NE(resolved.find("spacing: [9, "), resolved.npos) << resolved;
  expect_same_predictions("whole", "data");
}

TEST_F(RunAtASpacing, TrainsOnPatchesOfCasesThatMayBeSmaller) {
  const Outcome outcome = run("patches", {"training.patch=[20, 28, 16]", "training.precision=f32"});
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  expect_scores("patches");
  EXPECT_EQ(run("patches",
                {"training.patch=[20, 28, 16]", "training.precision=f32", "training.epochs=3", "--resume"})
                .code,
            0);
}

// Its intensities mean the same in every image, and the weights carry how they were scaled.
TEST_F(RunAtASpacing, TreatsCtByItsLabelledVoxels) {
  const std::string data = (folder_ / "ct").string(), yaml = (folder_ / "ct.yaml").string(),
                    out = (folder_ / "run").string();
  ASSERT_EQ(program({"phantom", "--out", data, "--cases", "4", "--size", "24", "--layout", "ct"}).code, 0);
  const Outcome configured = program(
      {"configure", data, "--out", yaml, "--estimate", "training.epochs=1", "network.base_filters=4"});
  ASSERT_EQ(configured.code, 0) << configured.output;
  EXPECT_NE(read_file(yaml).find("normalize: ct"), std::string::npos) << read_file(yaml);
  ASSERT_EQ(program({"run", yaml, "--out", out, "evaluate.metrics=[dice]"}).code, 0);
  expect_same_predictions("run", "ct");
}

TEST_F(RunAtASpacing, SaysWhatWholeVolumesNeed) {
  const Outcome outcome = run("fine", {"preprocess.spacing=[4, 4, 4]"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.output.find("whole volumes are padded to 28"), std::string::npos) << outcome.output;
}

}  // namespace
}  // namespace voxswap::cli
