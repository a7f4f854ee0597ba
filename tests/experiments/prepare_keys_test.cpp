// The keys of folds, bias correction, clipping, augmentation and images.
#include "tests/experiments/support.h"

namespace voxswap::experiments {
namespace {

TEST_F(Experiments, TakeBiasCorrectionAndClipping) {
  EXPECT_TRUE(load("preprocess: {bias_correction: none, clip: none}\n").preprocess.bias_correction.empty());
  const data::PrepareOptions named =
      load("preprocess: {bias_correction: [t1, t2], clip: [0.5, 99]}\n").preprocess;
  EXPECT_EQ(named.bias_correction, (std::vector<std::string>{"t1", "t2"}));
  EXPECT_EQ(named.clip_low, 0.5);
  EXPECT_EQ(named.clip_high, 99);
  EXPECT_EQ(load("preprocess: {bias_correction: n4}\n").preprocess.bias_correction,
            std::vector<std::string>{"n4"});
  for (const char* setting : {"bias_correction: n3", "bias_correction: []", "clip: 5", "clip: [99, 1]",
                              "clip: [0, 101]", "normalize: zscore"})
    EXPECT_TRUE(contains(refusal(format("preprocess: {{{}}}\n", setting)), "study.yaml:1: preprocess."))
        << setting;
}

TEST_F(Experiments, TakeAugmentationAsANumberOrARangeWithAProbability) {
  const data::AugmentOptions augment =
      load(
          "training:\n  augment:\n    rotation: 15\n    zoom: {range: [0.8, 1.3], probability: 0.25}\n"
          "    gamma: {range: [0.7, 1.5]}\n    low_resolution: 0.4\n    noise: 0.1\n    flip: [0.5, 0, "
          "0.25]\n")
          .training.augment;
  EXPECT_EQ(augment.rotation, (data::Draw{-15, 15, 1}));
  EXPECT_EQ(augment.zoom, (data::Draw{0.8, 1.3, 0.25}));
  EXPECT_EQ(augment.gamma, (data::Draw{0.7, 1.5, 1}));
  EXPECT_EQ(augment.low_resolution, (data::Draw{0.6, 1, 1}));
  EXPECT_EQ(augment.noise, (data::Draw{0, 0.1, 1}));
  EXPECT_EQ(augment.flip, (std::array{0.5, 0.0, 0.25}));
  EXPECT_EQ(augment.blur, data::Draw{});
}

TEST_F(Experiments, BeginAugmentationAtAPresetThatSingleKeysChange) {
  EXPECT_EQ(load("training: {augment: nnunet}\n").training.augment, data::nnunet_augmentation());
  EXPECT_EQ(load("training: {augment: {preset: nnunet}}\n").training.augment, data::nnunet_augmentation());
  data::AugmentOptions expected = data::nnunet_augmentation();
  expected.rotation.probability = 0.5;
  expected.zoom = {};
  expected.gamma = {0.9, 1.1, 1};
  // The order of the keys in the file does not matter.
  EXPECT_EQ(load("training: {augment: {zoom: 0, preset: nnunet}}\n",
                 {"training.augment.rotation.probability=0.5", "training.augment.gamma={range: [0.9, 1.1]}"})
                .training.augment,
            expected);
  EXPECT_EQ(load("", {"training.augment=nnunet"}).training.augment, data::nnunet_augmentation());
  EXPECT_TRUE(
      contains(refusal("training: {augment: monai}\n"), "study.yaml:1: training.augment.preset: expected"));
}

TEST_F(Experiments, RefuseAugmentationThatMeansNothing) {
  for (const char* setting :
       {"rotation: 200", "rotation: {range: [20, -20]}", "rotation: {probability: 0.5}",
        "rotation: {range: [1]}", "rotation: {range: [-5, 5], probability: 2}", "rotation: {}",
        "rotation: [5]", "zoom: 1", "zoom: {range: [0, 1]}", "gamma: 1", "low_resolution: 1", "noise: -1",
        "flip: [0.5, 0.5]", "flip: [0.5, 0.5, 2]", "scale: 2", "elastic_grid: 0", "elastic: 6",
        "blur: {range: [0, 1], chance: 1}"}) {
    const std::string message = refusal(format("training: {{augment: {{{}}}}}\n", setting));
    EXPECT_TRUE(contains(message, "study.yaml:1: ") && contains(message, "training.augment."))
        << setting << ": " << message;
  }
  EXPECT_EQ(refusal("training: {augment: {elastic: 6, elastic_grid: 40}}\n"), "accepted");
}

TEST_F(Experiments, TakeOneNumberForBothSidesOfAnImage) {
  const std::string image = "network: {name: deeplabv3}\n";
  EXPECT_EQ(load(image).preprocess.resolution, (data::Size3{128, 128, 1}));
  EXPECT_EQ(load(image + "preprocess: {resolution: 96}\n").preprocess.resolution, (data::Size3{96, 96, 1}));
  EXPECT_EQ(load(image + "preprocess: {resolution: [80, 96]}\n").preprocess.resolution,
            (data::Size3{80, 96, 1}));
  EXPECT_EQ(load(image + "training: {patch: 32}\n").training.patch, (data::Size3{32, 32, 1}));
  EXPECT_TRUE(contains(refusal(image + "preprocess: {resolution: [8, 8, 4]}\n"), "found 4 planes"));
  EXPECT_TRUE(contains(refusal("preprocess: {resolution: [32, 32]}\n"), "z is 1"));
}

TEST_F(Experiments, RefuseImagesThatMeanNothing) {
  const std::string softmax = "training: {loss: softmax_cross_entropy",
                    classes = "network: {name: resnet50}\n";
  EXPECT_EQ(refusal(classes + softmax + "}\n"), "accepted");
  EXPECT_EQ(refusal(classes), "accepted") << "there is one loss that it takes";
  EXPECT_TRUE(contains(refusal(classes + "training: {loss: weighted_dice}\n"), "training.loss"));
  EXPECT_TRUE(contains(refusal(classes + softmax + ", patch: 32}\n"), "training.patch"));
  EXPECT_TRUE(contains(refusal("preprocess: {slices: axial}\n"), "Use deeplabv3"));
  EXPECT_TRUE(contains(refusal(classes + softmax + "}\npreprocess: {slices: axial}\n"), "Use deeplabv3"));
  EXPECT_TRUE(contains(refusal(softmax + ", targets: regions}\n"), "training.targets"));
}

// Without folds every fold would be the same split.
TEST_F(Experiments, RefuseAFoldWhereThereAreNoFolds) {
  EXPECT_TRUE(
      contains(refusal("data:\n  split: {fold: 1}\n"),
               "study.yaml:2: data.split.fold: fold 1 needs several folds, but data.split.file is not set"));
  EXPECT_TRUE(contains(refusal("", {"data.split.fold=2", "data.split.file=split.csv"}), "is not a .json"));
  EXPECT_EQ(load("data: {split: {file: splits_final.json, fold: 3}}\n").split.fold, 3);
  EXPECT_TRUE(contains(refusal("data: {split: {fold: 0}}\n"), "data.split.fold: fold 0 needs"));
  EXPECT_EQ(load("data: {split: {folds: 5, fold: 4}}\n").split.folds, 5);
  EXPECT_TRUE(contains(load("data: {split: {folds: 5}}\n").resolved, "fold: 0"));
  EXPECT_TRUE(contains(refusal("data: {split: {folds: 5, fold: 5}}\n"), "There is no fold 5"));
  EXPECT_TRUE(contains(refusal("data: {split: {folds: 1}}\n"), "no case would train"));
  EXPECT_TRUE(contains(refusal("data: {split: {folds: 5, file: split.csv}}\n"), "Use one of the two"));
  EXPECT_FALSE(contains(load("").resolved, "fold:"));
  EXPECT_TRUE(contains(load("data: {split: {file: splits_final.json}}\n").resolved, "fold: 0"));
  // Runs of version 0.1 say so all the same, and can be gone on with.
  fs::create_directories(folder_ / "before");
  write("data: {split: {fold: 0}}\nsweep: {}\n", "before/experiment.yaml");
  EXPECT_EQ(load_run(folder_ / "before").run.split.fold, 0);
}

}  // namespace
}  // namespace voxswap::experiments
