// Tests the methods section of a paper: it has the values of the experiments, of every augmentation, and says
// where runs differ.
#include "experiments/methods.h"

#include "experiments/keys.h"
#include "tests/experiments/support.h"

namespace voxswap::experiments {
namespace {

class Methods : public Experiments {
 protected:
  pipeline::RunFolder run_of(const std::vector<std::string>& overrides) const {
    pipeline::RunFolder run;
    run.path = folder_;
    run.settings = read_settings_of_run(
        write(load("data: {root: /scans/brats2018}\n", overrides).resolved, "resolved.yaml"));
    run.training_cases = 29;
    run.validation_cases = 7;
    return run;
  }
  std::string text_of(const std::vector<std::string>& overrides) const {
    return methods_text({run_of(overrides)});
  }
};

TEST_F(Methods, HaveTheValuesOfTheExperiment) {
  const std::string text = text_of({"preprocess.resolution=96", "network.depth=4", "network.base_filters=12",
                                    "training.epochs=77", "training.optimizer.learning_rate=0.002",
                                    "training.loss=dice_cross_entropy", "data.split.seed=5"});
  EXPECT_TRUE(contains(text, "The data set is brats2018.", "trained on 29 cases and validated on 7",
                       "(seed 5)", "resized to 96 voxels per side", "depth 4",
                       "width 12 (channels at full resolution)", "dice cross entropy loss with Adam",
                       "learning rate of 0.002", "number of epochs: 77"))
      << text;
  EXPECT_FALSE(contains(text, "{}")) << text;
}

TEST_F(Methods, OfRunsThatDifferListTheirValues) {
  std::vector<pipeline::RunFolder> runs;
  for (const char* resolution : {"32", "48", "64"})
    runs.push_back(run_of({std::string("preprocess.resolution=") + resolution}));
  const std::string text = methods_text(runs);
  EXPECT_TRUE(contains(text, "resized to 32, 48 and 64 voxels per side")) << text;
}

TEST_F(Methods, SayHowCasesWereSplit) {
  EXPECT_TRUE(
      contains(text_of({}), "split at random (seed 1)", "if names or DICOM headers identify patients"));
  const std::string given = text_of({"data.split.file=/some/mine.csv"});
  EXPECT_TRUE(contains(given, "validated on 7, split as listed in mine.csv.")) << given;
  const std::string site =
      text_of({"data.split.table=/some/t.csv", "data.split.stratify=site", "data.split.patient={patient}_*"});
  EXPECT_TRUE(contains(site, "split at random (seed 1), stratified by site",
                       "all cases of a patient in one part ({patient}_*)"))
      << site;
}

TEST_F(Methods, CallFoldsACrossValidationIfAllAreThere) {
  std::vector<pipeline::RunFolder> runs;
  for (const char* fold : {"0", "2", "1"}) {
    EXPECT_FALSE(contains(methods_text(runs.empty() ? std::vector{run_of({})} : runs), "cross-validation"));
    runs.push_back(run_of({"data.split.folds=3", std::string("data.split.fold=") + fold}));
  }
  EXPECT_TRUE(contains(methods_text(runs), "3-fold cross-validation, split at random (seed 1)"));
  runs.pop_back();
  EXPECT_TRUE(contains(methods_text(runs), "validated on 7 (folds 0 and 2 of 3)")) << methods_text(runs);
}

TEST_F(Methods, NameAdamWithDecoupledWeightDecayAdamW) {
  EXPECT_TRUE(
      contains(text_of({"training.optimizer.weight_decay=0.01"}), "with AdamW, ", "weight decay 0.01"));
  EXPECT_FALSE(contains(text_of({"training.optimizer.weight_decay=0"}), "AdamW"));
}

TEST_F(Methods, SayOnWhichCasesTheEpochWasSelectedAndWhatWasAveraged) {
  const auto scored = [&](const std::vector<std::string>& overrides) {
    pipeline::RunFolder run = run_of(overrides);
    run.dice.emplace_back();
    return methods_text({run});
  };
  const std::string one = scored({});
  EXPECT_TRUE(contains(one, "The epoch was selected on the scored cases")) << one;
  EXPECT_FALSE(contains(one, "repeated trainings")) << one;
  EXPECT_TRUE(contains(scored({"training.repeats=2"}), "Scores of repeated trainings were averaged"));
  EXPECT_TRUE(contains(scored({"training.repeats=2", "evaluate.ensemble=true"}),
                       "Probabilities of repeated trainings were averaged"));
  EXPECT_FALSE(contains(scored({"evaluate.ensemble=true"}), "repeated trainings"));
}

TEST_F(Methods, OfSomeRunsWithGrowthSaySo) {
  EXPECT_TRUE(contains(methods_text({run_of({}), run_of({"training.growth={2: 5}"})}),
                       "Some of the trainings began on coarser grids (factor: epochs {2: 5})."));
}

TEST_F(Methods, NameEveryAugmentationThatIsOn) {
  const std::string none = text_of({"training.augment.symmetries=false"});
  EXPECT_TRUE(contains(none, "No augmentation was used.")) << none;
  for (const Key& key : keys()) {
    if (!key.path.starts_with("training.augment.") || key.path.ends_with(".preset") ||
        key.path.ends_with(".elastic_grid") || key.path.ends_with(".symmetries"))
      continue;
    const std::string text = text_of({"training.augment.symmetries=false", key.path + "=0.125"});
    EXPECT_TRUE(contains(text, "Augmentation: ")) << key.path << "\n" << text;
  }
}

TEST_F(Methods, OmitWhatIsOff) {
  const std::string text = text_of({});
  for (const char* absent :
       {"bias", "clip", "patches", "pretrained", "deep supervision", "warm-up", "Weights were"})
    EXPECT_FALSE(contains(text, absent)) << absent << "\n" << text;
  const std::string on = text_of({"preprocess.bias_correction=n4", "preprocess.clip=[1, 99]",
                                  "training.patch=32", "training.schedule.warm_up=3"});
  EXPECT_TRUE(contains(on, "N4", "percentiles [1, 99]", "patches of 32 voxels", "linear warm-up, epochs: 3"))
      << on;
}

}  // namespace
}  // namespace voxswap::experiments
