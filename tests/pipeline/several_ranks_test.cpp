// What is told of ranks that are not here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "pipeline/plan/forecast.h"

namespace voxswap::pipeline {
namespace {

RunOptions tiny(std::int64_t batch) {
  RunOptions options;
  options.data.root = "no/such/folder";
  options.data.modalities = {"t1", "flair"};
  options.data.labels = {{"core", 1}, {"edge", 2}, {"rim", 4}};
  options.network = {.base_filters = 4, .depth = 3};
  options.preprocess.resolution = {32, 32, 32};
  options.training.batch_size = batch;
  return options;
}

// A rank each for so many samples, four to a machine.
RanksForecast on(int count, double rate) {
  RunOptions options = tiny(count);
  const std::unique_ptr<net::Ranks> ranks = planned_ranks(count);
  options.ranks = ranks.get();
  const ForecastOptions how{
      .as = "v100-study",
      .network = swap::Network{.ranks = count, .machines = count / 4, .rate = rate, .message_seconds = 1e-6}};
  const DataShape data = data_shape(options);
  const StepForecast step(options, data, how);
  return forecast_ranks(step, forecast(step, data, options), options, data, how);
}

TEST(RanksForecast, TellsEfficiencyAndWhatLimitsIt) {
  const RanksForecast fast = on(16, 1e12), slow = on(16, 1e6);
  EXPECT_GT(fast.exchanged_bytes, 0);
  EXPECT_EQ(slow.exchanged_bytes, fast.exchanged_bytes);
  EXPECT_GT(slow.exchange_seconds, fast.exchange_seconds);
  EXPECT_EQ(slow.alone_seconds, fast.alone_seconds);
  EXPECT_LE(fast.efficiency(), 1);
  EXPECT_LT(slow.efficiency(), fast.efficiency());
  EXPECT_GE(slow.step_seconds, slow.exchange_seconds);
  EXPECT_THAT(slow.limit(), testing::HasSubstr("network bandwidth"));
  EXPECT_THAT(slow.limit(), testing::HasSubstr("longer than computing"));
}

}  // namespace
}  // namespace voxswap::pipeline
