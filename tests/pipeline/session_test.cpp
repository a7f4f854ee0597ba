// Tests that a session trains to the same bits with every planner and memory limit, and measures its steps.
#include "pipeline/device/session.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>

#include "base/checksummed_file.h"
#include "base/error.h"
#include "base/file.h"
#include "pipeline/device/benchmark.h"
#include "tests/costs.h"
#include "tests/expect.h"
#include "tests/folder.h"

namespace voxswap::pipeline {
namespace {

class Sessions : public test::InASharedFolder<Sessions> {
 public:
  static void make() {
    test::share_costs(folder());
    fs::create_directories(folder() / "scratch");
  }

 protected:
  static Experiment experiment_for(const std::string& planner, std::int64_t budget) {
    Experiment experiment;
    experiment.cache = folder();
    experiment.memory.device = "reference";
    experiment.training.precision = Precision::bf16;
    experiment.network = {.base_filters = 4, .depth = 3};
    experiment.preprocess.resolution = {16, 16, 16};
    experiment.training.optimizer.learning_rate = 1e-2;
    experiment.memory.planner = planner;
    experiment.memory.budget_bytes = budget;
    experiment.memory.host_bytes = 64 << 20;
    return experiment;
  }
  static Session open(const Experiment& experiment) {
    return {experiment, {}, {2, 3}, Session::Purpose::training};
  }
  // Measures the costs of the experiment's steps, and changes what is remembered of them. Noisy costs give no
  // lower bound, so it says that no other program slowed them down.
  static void measure_costs(
      const Experiment& experiment, const std::function<void(swap::CostModel&)>& change = [](auto&) {}) {
    { const Session measures = open(experiment); }
    for (const auto& file : fs::directory_iterator(experiment.cache / "costs")) {
      swap::CostModel costs = swap::parse_costs(read_checksummed(file.path()).value());
      costs.noise = 0;
      change(costs);
      write_checksummed(file.path(), swap::costs_json(costs));
    }
  }
};

struct Results {
  std::vector<float> losses, validation, weights;
  bool operator==(const Results&) const = default;
};

struct Example {
  std::vector<float> image;
  std::vector<std::uint8_t> target;
};
Example example() {
  constexpr std::size_t voxels = 16 * 16 * 16;
  Example made{std::vector<float>(2 * voxels), std::vector<std::uint8_t>(voxels)};
  for (std::size_t i = 0; i < made.image.size(); ++i) made.image[i] = static_cast<float>(i % 97) / 48 - 1;
  for (std::size_t i = 0; i < made.target.size(); ++i) made.target[i] = static_cast<std::uint8_t>(i / 5 % 8);
  return made;
}

// Three steps with validations in between, which share weights and memory. `replans` measures again after the
// second.
Results train(Session& session, swap::StepReport* report = nullptr, bool replans = false) {
  const auto [image, target] = example();
  Results results;
  session.initialize(3);
  for (std::int64_t step = 1; step <= 3; ++step) {
    results.losses.push_back(session.train(image, target, {3, step, 1e-2}, report));
    results.validation.push_back(session.validation_loss(image, target));
    if (replans && step == 2) session.remeasure();
  }
  for (const Tensor& tensor : session.weights())
    results.weights.insert(results.weights.end(), tensor.values.begin(), tensor.values.end());
  return results;
}

constexpr std::int64_t ample = std::int64_t{1} << 30, small = 1050 << 10;  // keep's peak is above 1.5 MiB

TEST_F(Sessions, TrainToTheSameBitsWhateverThePlannerAndTheMemories) {
  Session kept = open(experiment_for("keep", ample));
  const Results expected = train(kept);
  EXPECT_NE(expected.losses[0], expected.losses[2]);

  std::vector<Experiment> settings;
  for (const char* planner : {"hybrid", "checkpoint", "tflms", "lms-threshold"})
    settings.push_back(experiment_for(planner, ample));
  settings.push_back(experiment_for("hybrid", small));
  settings.push_back(experiment_for("tflms", small));
  settings.push_back(experiment_for("checkpoint", 1200 << 10));
  settings.push_back(experiment_for("lms-threshold", ample));
  settings.back().memory.lms_threshold = 1 << 10;
  settings.push_back(experiment_for("hybrid", small));  // a slow link
  settings.back().memory.to_host_rate = settings.back().memory.to_device_rate = 2e8;
  settings.push_back(experiment_for("tflms", small));  // disk below a narrow pool
  settings.back().memory.host_bytes = 300 << 10;
  settings.back().memory.disk_folder = folder() / "scratch";
  settings.back().memory.disk_bytes = 64 << 20;
  for (const Experiment& experiment : settings) {
    Session session = open(experiment);
    EXPECT_LE(session.arena_bytes(), *experiment.memory.budget_bytes);
    EXPECT_LE(session.plan().host_bytes, *experiment.memory.host_bytes);  // excludes buffers for streaming
    EXPECT_TRUE(train(session) == expected)
        << experiment.memory.planner << ", budget " << *experiment.memory.budget_bytes;
  }
  EXPECT_TRUE(fs::is_empty(folder() / "scratch"));
}

TEST_F(Sessions, TrainToTheSameBitsWhereTheCostsAreMeasuredAgain) {
  Session kept = open(experiment_for("keep", ample));
  const Results expected = train(kept);
  const test::TemporaryFolder cache;
  Experiment experiment = experiment_for("hybrid", small);
  experiment.cache = cache.path();
  constexpr double too_many = 60;  // seconds per node: more than a step takes on any machine
  measure_costs(experiment, [](swap::CostModel& costs) {
    for (double& seconds : costs.node_seconds) seconds = too_many;
  });
  Session session = open(experiment);
  EXPECT_GT(session.plan().predicted_seconds, too_many);
  EXPECT_FALSE(std::isnan(session.bound().seconds));
  EXPECT_TRUE(train(session, nullptr, /*replans=*/true) == expected);
  EXPECT_LT(session.costs().all_nodes(), too_many);
  EXPECT_LT(session.plan().predicted_seconds, too_many);
  EXPECT_EQ(std::isnan(session.bound().seconds), session.costs().is_noisy());

  session.forget_costs();
  EXPECT_TRUE(fs::is_empty(experiment.cache / "costs"));
}

// In slabs, sums of bf16 are rounded in another order: losses are near those of whole volumes, and identical
// for all plans.
TEST_F(Sessions, InSlabsTrainInLessMemoryToTheSameBitsWhateverThePlan) {
  Session whole = open(experiment_for("keep", ample));
  const Results near = train(whole);
  Experiment experiment = experiment_for("keep", ample);
  experiment.memory.slabs = 4;
  Session kept = open(experiment);
  const Results expected = train(kept);
  ASSERT_EQ(expected.losses.size(), near.losses.size());
  for (std::size_t i = 0; i < near.losses.size(); ++i) {
    EXPECT_NEAR(expected.losses[i], near.losses[i], 1e-2);
    EXPECT_NEAR(expected.validation[i], near.validation[i], 1e-2);
  }
  const std::vector<float> image = example().image;
  const std::vector<float> probabilities = kept.predict(image), by_whole = whole.predict(image);
  ASSERT_EQ(probabilities.size(), by_whole.size());
  for (std::size_t i = 0; i < by_whole.size(); ++i) ASSERT_NEAR(probabilities[i], by_whole[i], 0.1) << i;

  experiment.memory.planner = "hybrid";
  experiment.memory.budget_bytes = 1100 << 10;  // at least 1004 KiB, for parameters and their update
  EXPECT_GT(kept.arena_bytes(), *experiment.memory.budget_bytes);
  Session swapping = open(experiment);
  EXPECT_LE(swapping.arena_bytes(), *experiment.memory.budget_bytes);
  EXPECT_TRUE(train(swapping) == expected);
  EXPECT_TRUE(swapping.predict(image) == probabilities);
}

TEST_F(Sessions, LeaveWhatIsFrozenAsItIsInLessMemory) {
  Experiment experiment = experiment_for("keep", ample);
  Session whole = open(experiment);
  train(whole);
  experiment.network.frozen = {"encoder"};
  Session session = open(experiment);
  session.initialize(3);
  const std::vector<Tensor> before = session.weights();
  train(session);
  const std::vector<Tensor> after = session.weights();
  for (std::size_t i = 0; i < after.size(); ++i)
    EXPECT_TRUE(!after[i].name.starts_with("encoder") || after[i].values == before[i].values)
        << after[i].name;
  const auto changed = [&](const char* name) {
    for (std::size_t i = 0; i < after.size(); ++i)
      if (after[i].name == name) return after[i].values != before[i].values;
    return false;
  };
  EXPECT_TRUE(changed("head.0.conv.weight"));
  EXPECT_LT(session.plan().peak_bytes, whole.plan().peak_bytes * 4 / 5);
}

TEST_F(Sessions, InF16KeepTheLossScaleInTheirCheckpointAndTrainToTheSameBits) {
  Experiment experiment = experiment_for("keep", ample);
  experiment.training.precision = Precision::f16;
  Session kept = open(experiment);
  const Results expected = train(kept);
  const Tensor scale = kept.optimizer_state().back();
  EXPECT_EQ(scale.name, "loss.scale");
  EXPECT_GT(scale.values[2], 0);  // updates were made

  Checkpoint checkpoint;
  for (const auto& tensors : {kept.weights(), kept.optimizer_state()})
    checkpoint.tensors.insert(checkpoint.tensors.end(), tensors.begin(), tensors.end());
  experiment.memory.planner = "hybrid";
  experiment.memory.budget_bytes = small;
  Session swapping = open(experiment);
  EXPECT_TRUE(train(swapping) == expected);
  swapping.initialize(4);
  EXPECT_EQ(swapping.optimizer_state().back().values, (std::vector<float>{65536, 0, 0}));
  swapping.load(checkpoint, "here", true);
  EXPECT_EQ(swapping.optimizer_state().back().values, scale.values);
}

// Biases in front of a norm have no effect and are not trained.
bool is_taken_by_norm(const std::string& name) {
  return name.ends_with(".conv.bias") && !name.starts_with("head.");
}

// Earlier versions trained such biases without effect and stored their moments.
TEST_F(Sessions, GoOnFromCheckpointsWithOtherBiasesInFrontOfNormsAndTheirMomentsToTheSameWeights) {
  const Experiment experiment = experiment_for("keep", ample);
  Session first = open(experiment);
  train(first);
  Checkpoint now;
  for (const auto& tensors : {first.weights(), first.optimizer_state()})
    now.tensors.insert(now.tensors.end(), tensors.begin(), tensors.end());
  Checkpoint earlier = now;
  for (const Tensor& tensor : now.tensors) {
    if (!is_taken_by_norm(tensor.name)) continue;
    for (const char* suffix : {".m", ".v"})
      earlier.tensors.push_back(
          {tensor.name + suffix, tensor.shape, std::vector<float>(tensor.values.size(), 0.5F)});
  }
  EXPECT_GT(earlier.tensors.size(), now.tensors.size());
  for (Tensor& tensor : earlier.tensors)
    if (is_taken_by_norm(tensor.name)) std::fill(tensor.values.begin(), tensor.values.end(), 3.25F);

  const auto next_step = [&](const Checkpoint& checkpoint) {
    Session session = open(experiment);
    session.load(checkpoint, "here", /*with_optimizer_state=*/true);
    const auto [image, target] = example();
    session.train(image, target, {3, 4, 1e-2});
    return session.weights();
  };
  const std::vector<Tensor> expected = next_step(now), found = next_step(earlier);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool taken = is_taken_by_norm(found[i].name);
    EXPECT_EQ(found[i].values, taken ? std::vector(found[i].values.size(), 3.25F) : expected[i].values)
        << found[i].name;
  }
}

TEST_F(Sessions, KnowWhatAStepShouldTakeAndReportWhatItTook) {
  const test::TemporaryFolder cache;
  Experiment experiment = experiment_for("hybrid", small);
  experiment.cache = cache.path();
  measure_costs(experiment);
  Session session = open(experiment);
  swap::StepReport report;
  train(session, &report);
  const swap::Plan& plan = session.plan();
  EXPECT_GT(swap::totals(plan).out_bytes, 0);
  EXPECT_GT(plan.predicted_seconds, 0);
  EXPECT_GE(plan.predicted_seconds, session.bound().seconds * 0.999);
  EXPECT_GT(session.costs().to_host.alone, 0);
  EXPECT_GT(report.seconds, 0);
  EXPECT_GT(report.compute_seconds, 0);
  EXPECT_GT(report.busy_seconds[static_cast<std::size_t>(swap::Lane::to_host)], 0);
  EXPECT_EQ(report.end.size(), plan.instructions.size());
}

TEST_F(Sessions, PlanTrainingThatKeepsEverythingOnCostsToo) {
  const test::TemporaryFolder cache;
  Experiment experiment = experiment_for("keep", ample);
  experiment.cache = cache.path();
  measure_costs(experiment);
  Session session = open(experiment);
  EXPECT_GT(session.plan().predicted_seconds, 0);
  EXPECT_NEAR(session.plan().predicted_seconds, session.bound().seconds, 1e-3 * session.bound().seconds);
}

TEST_F(Sessions, RefuseABudgetThatIsTooSmallInTheWordsOfTheirPlanner) {
  for (const char* planner : {"keep", "hybrid", "tflms"}) {
    test::expect_failure([&] { open(experiment_for(planner, 700 << 10)); }, Exit::does_not_fit,
                         {format("planner {} needs at least", planner)});
  }
}

TEST_F(Sessions, OfInferenceSwapOnlyWhenTheyMust) {
  const auto predict = [](std::int64_t budget, std::int64_t* out) {
    const Experiment experiment = experiment_for("hybrid", budget);
    Session session(experiment, {}, {2, 3}, Session::Purpose::inference);
    session.initialize(3);
    *out = swap::totals(session.plan()).out_bytes;
    return session.predict(std::vector<float>(2 * 16 * 16 * 16, 0.5f));
  };
  std::int64_t nothing = -1, something = 0;
  const std::vector<float> expected = predict(ample, &nothing);
  EXPECT_EQ(nothing, 0);
  Session whole(experiment_for("keep", ample), {}, {2, 3}, Session::Purpose::inference);
  const std::int64_t tight = whole.arena_bytes() - (32 << 10);  // less than without swapping
  EXPECT_EQ(predict(tight, &something), expected);
  EXPECT_GT(something, 0);
}

swap::StepReport report(double seconds, double compute, double stall, double to_host) {
  swap::StepReport made;
  made.seconds = seconds;
  made.compute_seconds = compute;
  made.stall_seconds = stall;
  made.busy_seconds[static_cast<std::size_t>(swap::Lane::to_host)] = to_host;
  return made;
}

TEST(StepStatistics, AddUpStepsAndKnowTheirMedian) {
  StepStatistics steps;
  EXPECT_EQ(steps.median_seconds(), 0);
  steps.add(report(5, 4, 1, 0.5));
  steps.add(report(1, 0.5, 0.25, 0.25));
  EXPECT_EQ(steps.median_seconds(), 3);
  steps.add(report(2, 1.5, 0.25, 0.25));
  EXPECT_EQ(steps.median_seconds(), 2);
  EXPECT_EQ(steps.compute_seconds, 6);
  EXPECT_EQ(steps.stall_seconds, 1.5);
}

TEST(StepStatistics, GiveTheRateOfALaneWhileItWasBusy) {
  StepStatistics steps;
  steps.add(report(5, 4, 1, 0.5));
  steps.add(report(5, 4, 1, 1.5));
  EXPECT_EQ(steps.rate(swap::Lane::to_host, 1000), 1000);  // 2000 bytes in 2 seconds
  EXPECT_EQ(steps.rate(swap::Lane::to_device, 1000), 0);
}

}  // namespace
}  // namespace voxswap::pipeline
