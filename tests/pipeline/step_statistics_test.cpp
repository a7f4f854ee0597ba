#include <gtest/gtest.h>

#include "pipeline/device/benchmark.h"

namespace voxswap::pipeline {
namespace {

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
