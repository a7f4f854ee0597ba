// Random cases give samples of the sizes and encodings that training has with a data set.
#include "pipeline/cases/random_cases.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "data/augment/augment.h"

namespace voxswap::pipeline {
namespace {

Experiment small_experiment() {
  Experiment experiment;
  experiment.cache = "missing";  // never written
  experiment.preprocess.resolution = {12, 10, 8};
  experiment.preprocess.bias_correction = {"t1"};
  experiment.training.targets = Targets::regions;
  experiment.training.batch_size = 2;
  experiment.training.loader_threads = 1;
  experiment.training.augment = data::nnunet_augmentation();
  return experiment;
}

Sample first_batch(const Experiment& experiment, std::int64_t outputs) {
  RandomCases cases(experiment, 2, outputs);
  return cases.load(true)->next();
}

TEST(RandomCases, GiveTheSameBatchesForTheSameSeed) {
  Experiment experiment = small_experiment();
  const Sample one = first_batch(experiment, 3), two = first_batch(experiment, 3);
  EXPECT_EQ(one.image.size(), 2U * 12 * 10 * 8 * 2);
  EXPECT_EQ(one.target.size(), 2U * 12 * 10 * 8);
  EXPECT_EQ(one.image, two.image);
  EXPECT_EQ(one.target, two.target);
  EXPECT_GT(*std::max_element(one.target.begin(), one.target.end()), 0);
  experiment.training.seed = 2;
  EXPECT_NE(first_batch(experiment, 3).image, one.image);
  EXPECT_FALSE(fs::exists("missing"));
}

TEST(RandomCases, DoNotEndWithTheEpochs) {
  Experiment experiment = small_experiment();
  experiment.training.epochs = 1;
  RandomCases cases(experiment, 1, 1);
  const auto loader = cases.load(true);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(loader->next().image.size(), 2U * 12 * 10 * 8);
}

TEST(RandomCases, AreCutAndEncodedAsTheExperimentSays) {
  Experiment patches = small_experiment();
  patches.training.patch = {4, 4, 4};
  patches.training.loss = net::Loss::softmax_cross_entropy;
  const Sample cut = first_batch(patches, 3);
  EXPECT_EQ(cut.image.size(), 2U * 4 * 4 * 4 * 2);
  EXPECT_EQ(cut.target.size(), 2U * 4 * 4 * 4);
  EXPECT_LT(*std::max_element(cut.target.begin(), cut.target.end()), 3);  // a class, or the background

  Experiment spaced = small_experiment();
  spaced.preprocess.spacing = {2, 2, 2};
  spaced.preprocess.normalize = data::Normalize::ct;
  EXPECT_EQ(first_batch(spaced, 3).image.size(), 2U * 12 * 10 * 8 * 2);

  Experiment slices = small_experiment();
  slices.preprocess.resolution = {12, 12, 1};
  slices.preprocess.slices = data::Slices::axial;
  slices.network.name = "deeplabv3";
  EXPECT_EQ(first_batch(slices, 2).image.size(), 2U * 12 * 12 * 2);

  Experiment images = small_experiment();
  images.preprocess.resolution = {12, 12, 1};
  images.network.name = "resnet18";
  images.training.loss = net::Loss::softmax_cross_entropy;
  const Sample classes = first_batch(images, 3);
  EXPECT_EQ(classes.target.size(), 2U);
  EXPECT_LT(*std::max_element(classes.target.begin(), classes.target.end()), 3);
}

}  // namespace
}  // namespace voxswap::pipeline
