// Tests the parts of the loss that depend on the data: weights of outputs, and ignored voxels.
#include "pipeline/cases/loss_settings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "data/layouts/open_dataset.h"
#include "data/phantoms/phantom.h"
#include "pipeline/cases/patches.h"
#include "tests/expect.h"
#include "tests/folder.h"

namespace voxswap::pipeline {
namespace {

class LossSettings : public test::InASharedFolder<LossSettings> {
 public:
  static void make() { data::write_phantoms({.out = folder(), .cases = 3, .size = {16, 16, 16}, .seed = 3}); }

 protected:
  static Experiment experiment_with(net::Loss loss) {
    Experiment experiment;
    experiment.data.root = folder();
    experiment.preprocess.resolution = {12, 12, 12};
    experiment.training.loss = loss;
    experiment.training.augment.symmetries = false;
    return experiment;
  }
};

TEST_F(LossSettings, GiveOutputsTheirWeightsByName) {
  Experiment run = experiment_with(net::Loss::softmax_dice_cross_entropy);
  const data::Dataset dataset = data::open_dataset(run.data);
  EXPECT_TRUE(weights_by_name(run.training, dataset).empty());
  const std::vector<std::string> names = output_names(dataset, run.training);
  run.training.class_weights.by_name = {{names.back(), 3}, {"background", 0.5}};
  std::vector<double> expected(names.size(), 1);
  expected.front() = 0.5;
  expected.back() = 3;
  EXPECT_EQ(weights_by_name(run.training, dataset), expected);
  run.training.class_weights.by_name = {{"backgrund", 2}};
  test::expect_failure([&] { weights_by_name(run.training, dataset); }, Exit::usage,
                       {"Did you mean 'background'?"});
}

TEST_F(LossSettings, WeighByTheVoxelsThatTheTrainingCasesHave) {
  Experiment run = experiment_with(net::Loss::softmax_cross_entropy);
  Cases cases(run, data::open_dataset(run.data));
  cases.prepare_all({0, 1}, {2});
  const std::vector<double> weights = weights_by_frequency(run.training, cases, {0, 1});
  ASSERT_EQ(weights.size(), cases.dataset().labels.size() + 1);
  for (std::size_t c = 0; c < weights.size(); ++c) {
    const int value = c == 0 ? 0 : cases.dataset().labels[c - 1].second;
    std::int64_t own = 0;
    for (const std::size_t index : {0, 1}) {
      const auto& truth = cases.prepared(index)->truth;
      own += std::count(truth.begin(), truth.end(), value);
    }
    EXPECT_DOUBLE_EQ(weights[c], 1 / std::log(1.02 + static_cast<double>(own) / (2 * 12 * 12 * 12))) << c;
  }
  EXPECT_LT(weights[0], weights[1]);
}

// The ignored label gets no output, for bit targets and for class targets.
TEST_F(LossSettings, MarkVoxelsToBeIgnoredInTargets) {
  for (const net::Loss loss : {net::Loss::weighted_dice, net::Loss::softmax_cross_entropy}) {
    Experiment run = experiment_with(loss);
    const data::Labels labels = data::open_dataset(run.data).labels;
    const int ignored = labels.back().second;
    run.data.labels.assign(labels.begin(), labels.end() - 1);
    run.data.regions = {{"rest", {labels.front().second}}};
    run.data.ignore_label = ignored;
    Cases cases(run, data::open_dataset(run.data));
    cases.prepare_all({0}, {});
    EXPECT_EQ(unknown_in(cases.dataset()), net::Unknown::voxels);
    const auto outputs = static_cast<std::uint8_t>(labels.size() - 1);
    EXPECT_EQ(output_count(cases.dataset(), run.training),
              outputs + (loss == net::Loss::weighted_dice ? 0 : 1));
    const Sample sample = cases.sample(0);
    const std::vector<std::int16_t>& truth = cases.prepared(0)->truth;
    std::size_t found = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
      const std::uint8_t mark =
          loss == net::Loss::weighted_dice ? std::uint8_t(1U << outputs) : std::uint8_t{255};
      EXPECT_EQ(sample.target[i] == mark, truth[i] == ignored);
      found += truth[i] == ignored;
    }
    EXPECT_GT(found, 0u);
  }
}

TEST(Patches, AreNotDrawnAroundVoxelsToBeIgnored) {
  std::vector<std::int16_t> truth(8 * 8 * 8);
  truth.back() = 9;
  const LabelPlanes planes = label_planes(truth, {8, 8, 8}, 9);
  std::size_t there = 0;
  for (std::uint32_t number = 0; number < 50; ++number)
    there += draw_patch(planes, truth, {8, 8, 8}, {2, 2, 2}, 1, 1, number, 1).start == Size3{6, 6, 6};
  EXPECT_LT(there, 5u);
}

}  // namespace
}  // namespace voxswap::pipeline
