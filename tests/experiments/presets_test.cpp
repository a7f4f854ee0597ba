// Levels of U-Nets and training.preset: parsing, the values set, and the resolved file.
#include "experiments/presets.h"

#include <algorithm>

#include "tests/experiments/support.h"

namespace voxswap::experiments {
namespace {

using Strides = std::vector<net::Along>;

TEST_F(Experiments, ReadKernelsAndStridesOfEveryLevel) {
  const LoadedExperiment run = load(
      "network: {name: plain_unet, kernels: [[3, 3, 1], 3], strides: [1, [2, 2, 1], 2]}\n"
      "training: {deep_supervision: [1, 0.5]}\n");
  EXPECT_EQ(run.network.kernels, (Strides{{3, 3, 1}, {3, 3, 3}}));
  EXPECT_EQ(run.network.strides, (Strides{{1, 1, 1}, {2, 2, 1}, {2, 2, 2}}));
  EXPECT_EQ(run.network.deep_supervision, (std::vector<double>{1, 0.5}));
  EXPECT_TRUE(contains(run.resolved, "  kernels: [[3, 3, 1], 3]\n  strides: [1, [2, 2, 1], 2]\n"));
  const LoadedExperiment plain = load("network: {name: plain_unet}\n");
  EXPECT_TRUE(plain.network.kernels.empty() && plain.network.strides.empty());
  EXPECT_TRUE(contains(plain.resolved, "  kernels: auto\n  strides: auto\n"));
}

TEST_F(Experiments, GiveNnunetsNetworksTheirSlopeUnlessAnotherIsGiven) {
  EXPECT_EQ(load("network: {name: resenc_unet}\n").network.slope, 0.01);
  EXPECT_EQ(load("network: {name: resenc_unet, slope: 0.2}\n").network.slope, 0.2);
  EXPECT_EQ(load("network: {name: resnet3d}\n").network.slope, 0.3);
}

TEST_F(Experiments, AskForSidesThatTheStridesDivide) {
  const std::string levels = "network: {name: plain_unet, depth: 3, strides: [1, [2, 2, 1], 2]}\n";
  EXPECT_EQ(load(levels + "preprocess: {resolution: [8, 12, 6]}\n").network.depth, 3);
  const std::string message = refusal(levels + "preprocess: {resolution: 6}\n");
  EXPECT_TRUE(contains(message, "4 along x, 4 along y, 2 along z", "x is 6; use 4 or 8"));
  EXPECT_FALSE(contains(message, "z is 6"));
}

// Isensee et al. 2021; for 128 x 128 x 24, an axis is halved as long as 4 voxels remain.
TEST_F(Experiments, TrainAsNnunetDoesWhereTheySayNothingElse) {
  const LoadedExperiment run =
      load("preprocess: {resolution: [128, 128, 24]}\ntraining: {preset: nnunet, batch_size: 3}\n");
  EXPECT_EQ(run.network.name, "plain_unet");
  EXPECT_EQ(run.network.base_filters, 32);
  EXPECT_EQ(run.network.depth, 6);
  EXPECT_EQ(run.network.strides, (Strides{{1, 1, 1}, {2, 2, 2}, {2, 2, 2}, {2, 2, 1}, {2, 2, 1}, {2, 2, 1}}));
  EXPECT_EQ(run.network.deep_supervision, (std::vector<double>{1, 0.5, 0.25, 0.125}));
  EXPECT_EQ(run.network.slope, 0.01);
  EXPECT_TRUE(
      contains(refusal("preprocess: {spacing: auto}\ntraining: {preset: nnunet}\n"), "training.patch"));
  EXPECT_EQ(load("preprocess: {spacing: auto}\ntraining: {preset: nnunet, patch: 32}\n").network.depth, 4);
  EXPECT_EQ(run.training.batch_size, 3) << "is given";
  EXPECT_EQ(run.training.epochs, 1000);
  EXPECT_EQ(run.training.optimizer.name, net::Optimizer::sgd);
  EXPECT_EQ(run.training.optimizer.learning_rate, 0.01);
  EXPECT_EQ(run.training.optimizer.momentum, 0.99);
  EXPECT_EQ(run.training.optimizer.weight_decay, 3e-5);
  EXPECT_EQ(run.training.optimizer.clip, 12);
  EXPECT_EQ(run.training.schedule.name, pipeline::Schedule::poly);
  EXPECT_EQ(run.training.loss, net::Loss::softmax_dice_cross_entropy);
  EXPECT_EQ(run.training.augment.preset, "nnunet");
  EXPECT_EQ(run.training.foreground, 0.33);
}

TEST_F(Experiments, ReportWhatAPresetSetAndReloadItFromTheResolvedFile) {
  const LoadedExperiment first =
      load_experiment(write("preprocess: {resolution: 32}\ntraining: nnunet\n"), {"network.depth=3"});
  const auto reports = [&](const std::string& line) {
    return std::count(first.preset.begin(), first.preset.end(), line) == 1;
  };
  EXPECT_TRUE(reports("training.optimizer.name: sgd"));
  EXPECT_TRUE(reports("training.deep_supervision: [1]"));
  EXPECT_FALSE(reports("network.depth: 3")) << "was given";
  EXPECT_TRUE(first.without_effect.empty()) << "nobody asked for patches around labels";
  const LoadedExperiment reloaded = load_experiment(write(first.resolved, "resolved.yaml"), {});
  EXPECT_TRUE(reloaded.preset.empty()) << "every key is given";
  EXPECT_EQ(reloaded.resolved, first.resolved);
}

TEST_F(Experiments, LeaveNetworksWithoutLevelsOfTheirOwnAsTheyAreUnderAPreset) {
  const LoadedExperiment run = load("network: {name: unet3d, depth: 4}\ntraining: {preset: nnunet}\n");
  EXPECT_TRUE(run.network.strides.empty() && run.network.deep_supervision.empty());
  EXPECT_EQ(run.network.depth, 4);
  EXPECT_EQ(run.training.optimizer.name, net::Optimizer::sgd);
}

// Levels of U-Nets for volumes of several shapes.
TEST(Levels, RoundUpSidesUntilFourVoxelsAreLeft) {
  const Levels levels = levels_of({35, 50, 36}, {1, 1, 1}, 5, /*round_up=*/true);
  EXPECT_EQ(levels.size, (Size3{40, 56, 40}));
  EXPECT_EQ(levels.strides, (Strides{{1, 1, 1}, {2, 2, 2}, {2, 2, 2}, {2, 2, 2}}));
}

TEST(Levels, EndAtOddSidesWhereTheSizeIsGiven) {
  const Levels levels = levels_of({24, 20, 9}, {1, 1, 1}, 6, /*round_up=*/false);
  EXPECT_EQ(levels.size, (Size3{24, 20, 9}));
  EXPECT_EQ(levels.strides, (Strides{{1, 1, 1}, {2, 2, 1}, {2, 2, 1}}));
}

TEST(Levels, WaitWithAxesOfLongVoxels) {
  const Levels levels = levels_of({128, 128, 16}, {1, 1, 6}, 5, /*round_up=*/true);
  EXPECT_EQ(levels.strides, (Strides{{1, 1, 1}, {2, 2, 1}, {2, 2, 1}, {2, 2, 2}, {2, 2, 2}}));
  EXPECT_EQ(levels.kernels, (Strides{{3, 3, 1}, {3, 3, 1}, {3, 3, 3}, {3, 3, 3}, {3, 3, 3}}));
  EXPECT_EQ(levels.size, (Size3{128, 128, 16}));
}

TEST(Levels, WeightTheirLossesByHalves) {
  EXPECT_EQ(deep_supervision_weights(2), (std::vector<double>{1}));
  EXPECT_EQ(deep_supervision_weights(5), (std::vector<double>{1, 0.5, 0.25}));
}

}  // namespace
}  // namespace voxswap::experiments
