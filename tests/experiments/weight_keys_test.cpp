// Keys of the weights: where they begin, which stay, and what their mean is taken of.
#include "base/file.h"
#include "tests/experiments/support.h"

namespace voxswap::experiments {
namespace {

TEST_F(Experiments, TakeWeightsToBeginWithUnderTheirEarlierNameToo) {
  const fs::path here = fs::weakly_canonical(folder_);
  EXPECT_EQ(load("network: {init: a.safetensors}\n").training.init, here / "a.safetensors");
  const pipeline::RunOptions run = load("training: {weights: a.safetensors}\n");
  EXPECT_EQ(run.training.init, here / "a.safetensors");
  EXPECT_TRUE(contains(run.resolved, "  init: " + (here / "a.safetensors").string() + "\n"));
  EXPECT_EQ(load("", {"training.weights=none"}).training.init, "");
  EXPECT_TRUE(contains(refusal("network: {init: a}\ntraining: {weights: b}\n"), "is set twice"));
}

TEST_F(Experiments, FreezeNothingOnePartOrSeveral) {
  EXPECT_TRUE(load("training: {freeze: none}\n").network.frozen.empty());
  EXPECT_EQ(load("", {"training.freeze=encoder"}).network.frozen, std::vector<std::string>{"encoder"});
  const pipeline::RunOptions run = load("training: {freeze: [encoder.0, \"*.norm\"]}\n");
  EXPECT_EQ(run.network.frozen, (std::vector<std::string>{"encoder.0", "*.norm"}));
  EXPECT_EQ(load(run.resolved).network.frozen, run.network.frozen);
}

TEST_F(Experiments, AverageNothingThatCannotBeAveraged) {
  EXPECT_TRUE(contains(refusal("training: {epochs: 3, averaging: {name: ema, start: 4}}\n"),
                       "study.yaml:1: training.averaging.start: epoch 4 is after the last epoch (3)"));
  const std::string images = "preprocess: {resolution: 32}\nnetwork: {name: resnet18}\n";
  EXPECT_TRUE(contains(refusal(images, {"training.averaging.name=swa"}), "swa does not support resnet18"));
  EXPECT_EQ(load(images, {"training.averaging.name=ema"}).training.averaging.name, pipeline::Averaging::ema);
}

}  // namespace
}  // namespace voxswap::experiments
