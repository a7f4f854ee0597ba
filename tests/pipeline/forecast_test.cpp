// Tests the forecast before a run: channels without a data set, a comparison of planners, the largest size
// that fits.
#include "pipeline/plan/forecast.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "pipeline/plan/largest.h"
#include "pipeline/report/tables.h"
#include "swap/planners/planner.h"
#include "tests/expect.h"

namespace voxswap::pipeline {
namespace {

using test::contains;

// Planned for a GPU that is absent: nothing is measured and no kernel is compiled.
const ForecastOptions as_v100{.estimate = false, .as = "v100", .remember = true};

Experiment tiny() {
  Experiment experiment;
  experiment.data.root = "no/such/folder";
  experiment.data.modalities = {"t1", "flair"};
  experiment.data.labels = {{"core", 1}, {"edge", 2}, {"rim", 4}};
  experiment.network = {.base_filters = 2, .depth = 3};
  experiment.preprocess.resolution = {16, 16, 16};
  experiment.memory.budget_bytes = 1 << 20;
  return experiment;
}

TEST(DataShape, ComesFromTheExperimentWhereThereIsNoDataSet) {
  Experiment experiment = tiny();
  const DataShape shape = data_shape(experiment);
  EXPECT_FALSE(shape.found);
  EXPECT_EQ(shape.channels, 2);
  EXPECT_EQ(shape.outputs, 3);
  experiment.data.regions = {{"whole", {1, 2, 4}}};
  experiment.training.targets = Targets::regions;
  EXPECT_EQ(data_shape(experiment).outputs, 1);
}

TEST(DataShape, IsBadDataIfNeitherDataNorSettingsGiveIt) {
  for (const auto& forget : std::vector<std::function<void(Experiment&)>>{
           [](Experiment& o) { o.data.modalities.clear(); }, [](Experiment& o) { o.data.labels.clear(); }}) {
    Experiment experiment = tiny();
    forget(experiment);
    test::expect_failure([&] { data_shape(experiment); }, Exit::bad_data,
                         {"no/such/folder", "data.modalities"});
  }
}

TEST(Forecast, PutsEveryPlannerBesideTheOthersWithAPlanOrAReason) {
  Experiment experiment = tiny();
  experiment.memory.budget_bytes =
      StepForecast(experiment, data_shape(experiment), as_v100).plan("keep").peak_bytes * 3 / 4;
  const StepForecast step(experiment, data_shape(experiment), as_v100);
  const std::vector<PlannerRow> rows = compare_planners(step);
  ASSERT_EQ(rows.size(), swap::planner_names().size());
  for (const PlannerRow& row : rows) {
    EXPECT_NE(row.plan.has_value(), row.why_not.find("memory.") != std::string::npos) << row.planner;
    if (!row.plan) continue;
    EXPECT_EQ(row.plan->planner, row.planner);
    EXPECT_LE(row.plan->peak_bytes, *experiment.memory.budget_bytes);
    EXPECT_GE(row.plan->predicted_seconds, step.bound().seconds * 0.999) << row.planner;
  }
  EXPECT_FALSE(rows[0].plan) << "keep needs more";
  EXPECT_TRUE(rows[1].plan) << "hybrid does not";
}

TEST(Forecast, RefusesABudgetThatNoPlanIsWithin) {
  Experiment experiment = tiny();
  experiment.memory.budget_bytes = 1 << 16;
  const StepForecast step(experiment, data_shape(experiment), as_v100);
  test::expect_failure([&] { step.plan("hybrid"); }, Exit::does_not_fit,
                       {"memory.budget", "64.00 KiB", "needs at least", "Node '", "preprocess.resolution"});
}

bool fits(const Experiment& experiment) {
  try {
    const StepForecast step(experiment, data_shape(experiment), as_v100);
    step.plan(experiment.memory.planner, true);
    step.inference_peak(true);
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(Largest, IsTheOneAfterWhichNothingFits) {
  struct Case {
    Dimension dimension;
    std::function<Experiment(std::int64_t)> at;
    std::function<std::string(std::int64_t)> size;
  };
  const auto number_text = [](std::int64_t n) { return std::to_string(n); };
  const std::vector<Case> cases = {
      {Dimension::resolution,
       [](std::int64_t n) {
         Experiment experiment = tiny();
         experiment.preprocess.resolution = {4 * n, 4 * n, 4 * n};
         return experiment;
       },
       [](std::int64_t n) { return std::to_string(4 * n); }},
      {Dimension::batch,
       [](std::int64_t n) {
         Experiment experiment = tiny();
         experiment.memory.planner = "keep";
         *experiment.memory.budget_bytes += 1 << 18;
         experiment.training.batch_size = n;
         return experiment;
       },
       number_text},
      {Dimension::depth,
       [](std::int64_t n) {
         Experiment experiment = tiny();
         experiment.network = {.name = "resnet3d", .base_filters = 2, .depth = n};
         experiment.preprocess.resolution = {7, 7, 7};
         experiment.memory.planner = "keep";
         return experiment;
       },
       number_text},
  };
  for (const Case& one : cases) {
    const auto found_from = [&](std::int64_t start) {
      Experiment experiment = one.at(start);
      experiment.memory.host_bytes = std::int64_t{1} << 40;
      return find_largest(experiment, {}, data_shape(experiment), "v100", one.dimension);
    };
    const std::vector<Largest> all = found_from(2);
    ASSERT_EQ(all.size(), 1u);
    const Largest& found = all.front();
    ASSERT_GT(found.factor, 2);
    EXPECT_TRUE(fits(one.at(found.factor)));
    EXPECT_FALSE(fits(one.at(found.factor + 1)));
    EXPECT_EQ(found.size, one.size(found.factor));
    EXPECT_EQ(found.next, one.size(found.factor + 1));
    EXPECT_TRUE(found.plan && found.plan->peak_bytes <= *one.at(1).memory.budget_bytes);
    EXPECT_TRUE(contains(found.limit, "Node '"));
    EXPECT_EQ(found_from(3 * found.factor).front().size, found.size);
  }
}

// With little device memory and a slow link, larger volumes stall more.
TEST(Largest, WithinALimitOfTimeIsTheOneAfterWhichAStepTakesLonger) {
  Experiment experiment = tiny();
  experiment.memory.planner = "tflms";
  experiment.memory.host_bytes = std::int64_t{1} << 30;
  experiment.memory.to_host_rate = experiment.memory.to_device_rate = 1e9;
  const DataShape data = data_shape(experiment);
  const std::vector<Largest> all = find_largest(experiment, {}, data, "v100", Dimension::resolution);
  ASSERT_EQ(all.size(), 1u) << "memory.host says how much the host has";
  const Largest& largest = all.front();
  EXPECT_EQ(largest.host_bytes, *experiment.memory.host_bytes);
  const auto slowdown = [&](std::int64_t factor) {
    experiment.preprocess.resolution = {4 * factor, 4 * factor, 4 * factor};
    const StepForecast step(experiment, data, as_v100);
    return step.plan(experiment.memory.planner, true).predicted_seconds / step.compute_seconds();
  };
  ASSERT_GT(slowdown(largest.factor), most_times[1]) << "nothing to look for";
  ASSERT_EQ(largest.swift.size(), 2u);
  EXPECT_LT(largest.swift[1].factor, largest.factor);
  for (const Largest::Swift& swift : largest.swift) {
    if (swift.factor > 0) {
      EXPECT_LE(slowdown(swift.factor), swift.times);
    }
    if (swift.factor < largest.factor) {
      EXPECT_GT(slowdown(swift.factor + 1), swift.times);
    }
  }
}

TEST(Largest, KeepsTheProportionsOfABox) {
  Experiment experiment = tiny();
  experiment.preprocess.resolution = {8, 16, 8};
  const auto all = find_largest(experiment, {}, data_shape(experiment), "v100", Dimension::resolution);
  ASSERT_EQ(all.size(), 4u) << "a row for each amount that a host may have";
  const Largest& found = all.front();
  EXPECT_EQ(all.back().size, found.size) << "hardly any host memory is needed";
  EXPECT_EQ(found.unit, "4x8x4");
  EXPECT_EQ(found.size, resolution_text({4 * found.factor, 8 * found.factor, 4 * found.factor}));
}

TEST(Largest, IsARangeThatHoldsTheAnswerWhereTheTimeIsOver) {
  Experiment experiment = tiny();
  experiment.preprocess.resolution = {8, 8, 8};
  const auto all =
      find_largest(experiment, {}, data_shape(experiment), "v100", Dimension::resolution, /*seconds=*/1e6);
  const auto hasty =
      find_largest(experiment, {}, data_shape(experiment), "v100", Dimension::resolution, /*seconds=*/0);
  ASSERT_EQ(hasty.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].up_to, "");
    ASSERT_FALSE(hasty[i].up_to.empty());
    EXPECT_TRUE(hasty[i].plan);
    EXPECT_LE(hasty[i].factor, all[i].factor);
    EXPECT_GE(std::stoll(hasty[i].up_to), std::stoll(all[i].size));
    EXPECT_LT(std::stoll(hasty[i].up_to), std::stoll(hasty[i].next));
  }
}

TEST(Largest, EndsWhereTheExperimentDoesAndBeginsWhereNothingFits) {
  Experiment experiment = tiny();
  experiment.memory.budget_bytes = std::int64_t{1} << 40;
  const Largest deep = find_largest(experiment, {}, data_shape(experiment), "v100", Dimension::depth).front();
  EXPECT_EQ(deep.size, "5") << "16 is not a multiple of 2^5";
  EXPECT_EQ(deep.next, "");
  experiment.memory.budget_bytes = 1 << 10;
  const Largest none_fits =
      find_largest(experiment, {}, data_shape(experiment), "v100", Dimension::resolution).front();
  EXPECT_EQ(none_fits.factor, 0);
  EXPECT_FALSE(none_fits.plan);
  EXPECT_EQ(none_fits.next, "4");
}

// One rank per sample, four ranks per machine.
RanksForecast on(int count, double rate) {
  Experiment experiment = tiny();
  experiment.network.base_filters = 4;
  experiment.preprocess.resolution = {32, 32, 32};
  experiment.memory.budget_bytes.reset();
  experiment.training.batch_size = count;
  const std::unique_ptr<net::Ranks> ranks = planned_ranks(count);
  const ForecastOptions how{
      .as = "v100-study",
      .ranks = {*ranks, 1},
      .network = swap::Network{.ranks = count, .machines = count / 4, .rate = rate, .message_seconds = 1e-6}};
  const DataShape data = data_shape(experiment);
  const StepForecast step(experiment, data, how);
  return forecast_ranks(step, forecast(step, data, experiment), experiment, data, how);
}

TEST(RanksForecast, ReportsEfficiencyAndWhatLimitsIt) {
  const RanksForecast fast = on(16, 1e12), slow = on(16, 1e6);
  EXPECT_GT(fast.exchanged_bytes, 0);
  EXPECT_EQ(slow.exchanged_bytes, fast.exchanged_bytes);
  EXPECT_GT(slow.exchange_seconds, fast.exchange_seconds);
  EXPECT_EQ(slow.alone_seconds, fast.alone_seconds);
  EXPECT_LE(fast.efficiency(), 1);
  EXPECT_LT(slow.efficiency(), fast.efficiency());
  EXPECT_GE(slow.step_seconds, slow.exchange_seconds);
  EXPECT_TRUE(contains(slow.limit(), "network bandwidth", "longer than computation"));
}

}  // namespace
}  // namespace voxswap::pipeline
