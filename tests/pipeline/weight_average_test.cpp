// Tests averages of the weights during training: against their formulas in double precision, their effect on
// the training (none), and their checkpoints.
#include "pipeline/train/weight_average.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "tests/costs.h"
#include "tests/folder.h"

namespace voxswap::pipeline {
namespace {

class WeightAverages : public test::InAFolder {
 protected:
  WeightAverages() {
    test::share_costs(folder_);
    experiment_.cache = folder_;
    experiment_.memory.device = "reference";
    experiment_.memory.planner = "keep";
    experiment_.memory.budget_bytes = 1 << 30;
    experiment_.training.precision = Precision::f32;
    experiment_.training.epochs = 8;
    experiment_.network = {.base_filters = 1, .depth = 2};
    experiment_.preprocess.resolution = {8, 8, 8};
    session_.emplace(experiment_, RunContext{}, StepData{1, 1}, Session::Purpose::training);
    session_->initialize(3);
  }

  // Sets the weights of a training after `step` steps.
  void weights_become(int step) {
    for (std::size_t i = 0; i < session_->weight_count(); ++i) {
      std::vector<float> values(static_cast<std::size_t>(session_->weight(i).shape.count()));
      for (std::size_t k = 0; k < values.size(); ++k) values[k] = value(step, i, k);
      session_->write_weight(i, values);
    }
  }
  static float value(int step, std::size_t i, std::size_t k) {
    return static_cast<float>(std::sin(0.3 * step + static_cast<double>(i) + 0.01 * static_cast<double>(k)));
  }
  // Checks that the mean is that of `shares` of steps 1, 2, ...
  static void expect_mean(const WeightAverage& average, const std::vector<double>& shares) {
    const std::vector<Tensor> found = average.weights();
    for (std::size_t i = 0; i < found.size(); ++i)
      for (std::size_t k = 0; k < found[i].values.size(); ++k) {
        double expected = 0;
        for (std::size_t step = 0; step < shares.size(); ++step)
          expected += shares[step] * static_cast<double>(value(static_cast<int>(step) + 1, i, k));
        ASSERT_NEAR(found[i].values[k], expected, 1e-6) << found[i].name << " " << k;
      }
  }

  Experiment experiment_;
  std::optional<Session> session_;
};

TEST_F(WeightAverages, MoveStepByStepAndForgetTheirBeginningSoon) {
  TrainingOptions& training = experiment_.training;
  training.averaging = {Averaging::ema, 0.3, 0};
  WeightAverage average(training, *session_);
  EXPECT_FALSE(average.has_begun());
  std::vector<double> shares;
  for (int step = 1; step <= 7; ++step) {
    weights_become(step);
    average.after_step(1);
    // The first weights are copied; then decays 2/11, 3/12, 4/13 < 0.3, and 0.3 afterwards.
    const double t = step - 1, decay = step == 1 ? 0 : std::min(0.3, (1 + t) / (10 + t));
    for (double& share : shares) share *= decay;
    shares.push_back(1 - decay);
  }
  EXPECT_TRUE(average.has_begun());
  expect_mean(average, shares);
}

TEST_F(WeightAverages, OfTheLastEpochsEndsCountAlike) {
  TrainingOptions& training = experiment_.training;
  training.averaging = {Averaging::swa, 0.999, 0};
  EXPECT_EQ(averaged_from(training), 7);  // of eight
  EXPECT_EQ(validations(training, 8), 8 + 2);
  training.averaging.start = 3;
  EXPECT_EQ(validations(training, 2), 2);
  WeightAverage average(training, *session_);
  for (int epoch = 1; epoch <= 6; ++epoch) {
    weights_become(epoch);
    average.after_step(epoch);
    average.after_epoch(epoch);
    average.after_epoch(epoch);  // after an interruption in the validation
    EXPECT_EQ(average.has_begun(), epoch >= 3);
  }
  expect_mean(average, {0, 0, 0.25, 0.25, 0.25, 0.25});
}

TEST_F(WeightAverages, ChangePlacesWithTheWeightsAndBack) {
  TrainingOptions& training = experiment_.training;
  training.averaging = {Averaging::ema, 0.5, 0};
  WeightAverage average(training, *session_);
  for (int step = 1; step <= 3; ++step) {
    weights_become(step);
    average.after_step(1);
  }
  const auto values = [](const std::vector<Tensor>& tensors) {
    std::vector<std::vector<float>> all;
    for (const Tensor& tensor : tensors) all.push_back(tensor.values);
    return all;
  };
  const auto weights = values(session_->weights()), mean = values(average.weights());
  EXPECT_NE(weights, mean);
  average.exchange();
  EXPECT_EQ(values(session_->weights()), mean);
  average.exchange();
  EXPECT_EQ(values(session_->weights()), weights);
  EXPECT_EQ(values(average.weights()), mean);
}

TEST_F(WeightAverages, GoOnFromACheckpointToTheSameBits) {
  TrainingOptions& training = experiment_.training;
  training.averaging = {Averaging::ema, 0.9, 0};
  WeightAverage whole(training, *session_), before(training, *session_), after(training, *session_);
  Checkpoint last;
  before.add_to(last);
  EXPECT_TRUE(last.tensors.empty());
  for (int step = 1; step <= 6; ++step) {
    weights_become(step);
    whole.after_step(1);
    if (step <= 3) before.after_step(1);
    if (step == 3) {
      EXPECT_TRUE(before.finish_epoch(1, 0.5));
      before.add_to(last);
      after.load(last, "last");
    }
    if (step > 3) after.after_step(1);
  }
  const std::vector<Tensor> expected = whole.weights(), found = after.weights();
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(found[i].values, expected[i].values);
  EXPECT_EQ(after.best_epoch(), 1);
  EXPECT_FALSE(after.finish_epoch(2, 0.6));

  Checkpoint altered = last;
  altered.tensors.pop_back();
  EXPECT_THROW(after.load(altered, "last"), Error);
  altered = last;
  altered.metadata["averaging"] = "-1 1 0.5";
  EXPECT_THROW(after.load(altered, "last"), Error);
}

TEST_F(WeightAverages, AreCountedByTheBudgetThatNobodyGave) {
  TrainingOptions& training = experiment_.training;
  training.averaging.name = Averaging::ema;
  const WeightAverage average(training, *session_);
  experiment_.memory.budget_bytes.reset();
  Target target = open_target(experiment_);
  const Steps steps = build_steps(experiment_, {1, 1}, target, true);
  EXPECT_EQ(averaged_weights_bytes(experiment_, steps), average.bytes());
  const std::int64_t free = target.budgets.device;
  leave_room(target, experiment_.memory, average.bytes());
  EXPECT_EQ(target.budgets.device, free - average.bytes());
  training.averaging.name = Averaging::none;
  EXPECT_EQ(averaged_weights_bytes(experiment_, steps), 0);
}

}  // namespace
}  // namespace voxswap::pipeline
