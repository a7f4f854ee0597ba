// A run on cases of different voxel sizes: resampled to one spacing, padded, predicted on their own grids.
#include <gtest/gtest.h>

#include "base/text.h"
#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

class RunAtASpacing : public ProgramInAFolder {
 protected:
  void SetUp() override {
    phantoms("3", "24");
    phantoms("3", "30,28,26", {}, "finer");
    for (int i = 0; i < 3; ++i) {  // as additional cases 4 to 6
      const std::string from = format("BraTS2021_{:05}", i), to = format("BraTS2021_{:05}", i + 3);
      fs::create_directory(folder_ / "data" / to);
      for (const fs::directory_entry& file : fs::directory_iterator(folder_ / "finer" / from)) {
        const std::string name = file.path().filename().string();
        fs::rename(file.path(), folder_ / "data" / to / (to + name.substr(from.size())));
      }
    }
    write("experiment.yaml", R"(name: spaced
data: {root: data, modalities: [flair]}
preprocess: {resolution: 28, spacing: auto}
network: {base_filters: 4, depth: 3}
training: {epochs: 2}
evaluate: {at: [native, training], metrics: [dice]}
)");
  }
  // Checks that there are scores, and that `predict` gives the same as the run for its validation cases.
  void expect_scores_and_predictions(const std::string& run, const std::string& data) const {
    for (const std::string& value : column(run + "/dice.csv", "dice"))
      EXPECT_TRUE(std::stod(value) >= 0 && std::stod(value) <= 1) << value;
    const std::string name = column(run + "/dice.csv", "case").at(0) + ".nii.gz";
    done({"predict", path(run), "--input", path(data), "--out", path(run + "_predicted")});
    EXPECT_EQ(bytes(run + "/predictions/" + name), bytes(run + "_predicted/" + name));
  }
};

TEST_F(RunAtASpacing, PadsWholeVolumesAndPredictsNewScans) {
  done(into("whole"));
  expect_scores_and_predictions("whole", "data");
  // `auto` was the median of 10, 10, 10, 8, 8, 8 and so on, and is not chosen again.
  EXPECT_NE(bytes("whole/experiment.yaml").find("spacing: [9, "), std::string::npos);
}

TEST_F(RunAtASpacing, PadsToTheLargestCaseWhereNoResolutionIsGiven) {
  done(into("largest", {"preprocess.resolution=auto", "training.epochs=1"}));
  EXPECT_FALSE(column("largest/dice.csv", "dice").empty());
  const std::string text = bytes("largest/experiment.yaml");
  EXPECT_FALSE(contains(text, "resolution: auto")) << text;
  EXPECT_FALSE(contains(text, "resolution: 128")) << text;
  done({"plan", path("largest/experiment.yaml"), "--estimate", "preprocess.resolution=auto"});
}

TEST_F(RunAtASpacing, TrainsOnPatchesOfCasesThatMayBeSmaller) {
  const Words patches = {"training.patch=[20, 28, 16]", "training.precision=f32"};
  done(into("patches", patches));
  expect_scores_and_predictions("patches", "data");
  done(into("patches", patches + Words{"training.epochs=3", "--resume"}));
}

// CT intensities have the same meaning in every image, and the weights file contains the normalisation.
TEST_F(RunAtASpacing, TreatsCtByItsLabelledVoxels) {
  phantoms("4", "24", {"--layout", "ct"}, "ct");
  done({"configure", path("ct"), "--out", path("ct.yaml"), "--estimate", "training.epochs=1",
        "network.base_filters=4"});
  EXPECT_NE(bytes("ct.yaml").find("normalize: ct"), std::string::npos) << bytes("ct.yaml");
  done({"run", path("ct.yaml"), "--out", path("run"), "evaluate.metrics=[dice]",
        "evaluate.postprocessing=none"});
  expect_scores_and_predictions("run", "ct");
}

TEST_F(RunAtASpacing, NamesTheKeyThatMakesAStepSmaller) {
  const auto plan = [&](const Words& more) {
    return Words{"plan", path("experiment.yaml"), "--estimate", "memory.budget=64KiB"} + more;
  };
  const std::string by_spacing = "a larger preprocess.spacing or patches (training.patch)";
  EXPECT_FALSE(contains(refused(4, plan({}), by_spacing).output, "a lower preprocess.resolution"));
  refused(4, plan({"training.patch=[20, 28, 24]"}), "a smaller training.patch");
  refused(4, plan({"preprocess.spacing=none"}), "a lower preprocess.resolution");
}

TEST_F(RunAtASpacing, SaysWhatWholeVolumesNeed) {
  refused(2, into("fine", {"preprocess.spacing=[4, 4, 4]"}), "whole volumes are padded to 28");
}

}  // namespace
}  // namespace voxswap::cli
