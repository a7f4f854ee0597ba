// Keys of the loss: what is read and printed, what is refused, and what means nothing beside others.
#include "experiments/keys.h"
#include "tests/experiments/support.h"

namespace voxswap::experiments {
namespace {

TEST_F(Experiments, ReadWhatTheLossIs) {
  const pipeline::RunOptions plain = load("");
  EXPECT_EQ(plain.training.label_smoothing, 0);
  EXPECT_EQ(plain.training.focal_gamma, 0);
  EXPECT_FALSE(plain.training.batch_dice || plain.training.class_weights.automatic);
  EXPECT_FALSE(plain.data.ignore_label) << "as the data set says";
  EXPECT_TRUE(contains(plain.resolved, "  ignore_label: auto\n"));
  EXPECT_TRUE(contains(plain.resolved, "  class_weights: none\n"));

  const pipeline::RunOptions run = load(
      "data: {ignore_label: 9}\ntraining: {loss: softmax_dice_cross_entropy, label_smoothing: 0.1,\n"
      "  focal_gamma: 2, batch_size: 2, batch_dice: true, class_weights: {background: 0.5, edema: 2}}\n",
      {"training.class_weights.core=3"});
  EXPECT_EQ(run.data.ignore_label, 9);
  EXPECT_EQ(run.training.label_smoothing, 0.1);
  EXPECT_EQ(run.training.focal_gamma, 2);
  EXPECT_TRUE(run.training.batch_dice);
  const std::vector<std::pair<std::string, double>> weights = {
      {"background", 0.5}, {"edema", 2}, {"core", 3}};
  EXPECT_EQ(run.training.class_weights.by_name, weights);
  EXPECT_EQ(load(run.resolved).training.class_weights.by_name, weights);
  EXPECT_TRUE(load("training: {class_weights: auto}\n").training.class_weights.automatic);
  EXPECT_EQ(load("data: {ignore_label: none}\n").data.ignore_label, 0);
}

TEST_F(Experiments, RefuseLossesThatCannotBe) {
  EXPECT_TRUE(contains(refusal("training: {class_weights: {edema: 0}}\n"),
                       "training.class_weights.edema: expected a number above 0"));
  EXPECT_TRUE(contains(refusal("training: {class_weights: often}\n"), "none, auto or a map"));
  EXPECT_TRUE(contains(refusal("training: {label_smoothing: 1}\n"), "below 1"));
  EXPECT_TRUE(
      contains(refusal("network: {name: deeplabv3}\npreprocess: {resolution: 64, slices: axial}\n"
                       "training: {loss: softmax_dice_cross_entropy, batch_size: 2, batch_dice: true}\n"),
               "training.batch_dice: deeplabv3 has batch norm"));
}

}  // namespace
}  // namespace voxswap::experiments
