// memory.csv of a step small enough to follow by hand.
#include <gtest/gtest.h>

#include "pipeline/plan/steps.h"
#include "tests/swap/graphs.h"

namespace voxswap::pipeline {
namespace {

TEST(StepMemory, FollowsThePlanThroughItsTime) {
  test::Small small;
  swap::CostModel costs;
  costs.node_seconds = {1, 2, 4};
  const swap::Plan plan = swap::make_plan("keep", small.request);
  const auto rows = step_memory(small.graph, plan, costs, "r", "2");
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows.front().seconds, 0);
  EXPECT_EQ(rows.back().seconds, 7);
  std::int64_t most = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_TRUE(i == 0 || rows[i].seconds > rows[i - 1].seconds);
    most = std::max(most, rows[i].device_bytes);
    EXPECT_EQ(rows[i].host_bytes, 0);
  }
  EXPECT_EQ(most, plan.live_peak_bytes);
  EXPECT_EQ(rows.back().device_bytes, plan.persistent_bytes);  // stay for the next step
  EXPECT_GT(rows.back().device_bytes, 0);
  EXPECT_EQ(rows[0].planner, "keep");
  EXPECT_EQ(rows[0].budget_bytes, plan.budget_bytes == swap::unlimited ? 0 : plan.budget_bytes);
  EXPECT_EQ(rows[0].host_budget_bytes, 0);
  EXPECT_EQ(step_memory(small.graph, plan, costs, "r", "2", 77)[0].host_budget_bytes, 77);
}

}  // namespace
}  // namespace voxswap::pipeline
