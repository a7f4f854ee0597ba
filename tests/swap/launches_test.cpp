// Limits of the groups of kernels that are enqueued together, in plans that swap everything.
#include <gtest/gtest.h>

#include <algorithm>

#include "net/graph/operation.h"
#include "swap/execute/step_command.h"
#include "swap/planners/planner.h"
#include "tests/swap/runs.h"
#include "tests/swap/swapped_plan.h"

namespace voxswap::swap {
namespace {

struct Planned {
  net::TrainingStep step = net::build_training_step(test::tiny("isensee2017"));
  Plan plan;

  explicit Planned(bool swaps) {
    const std::vector<std::int64_t> workspaces(step.graph.nodes().size(), 0);
    plan = test::plan_by(swaps ? std::optional(test::SwapOptions{}) : std::nullopt, step.graph, workspaces,
                         {step.loss});
  }
  std::vector<LaunchGroup> groups() const { return launch_groups(step.graph, plan); }
  const Instruction& instruction(std::size_t i) const { return plan.instructions[i]; }
};

class LaunchGroups : public testing::TestWithParam<bool> {
 protected:
  Planned planned{GetParam()};
  std::vector<LaunchGroup> groups = planned.groups();
};

TEST_P(LaunchGroups, HoldEveryKernelOnceAndInOrder) {
  std::vector<std::size_t> found, expected;
  for (const LaunchGroup& group : groups)
    found.insert(found.end(), group.instructions.begin(), group.instructions.end());
  for (std::size_t i = 0; i < planned.plan.instructions.size(); ++i)
    if (planned.instruction(i).lane() == Lane::compute) expected.push_back(i);
  EXPECT_EQ(found, expected);
}

TEST_P(LaunchGroups, WaitForOthersOnlyAtTheBeginningAndAreWaitedForOnlyAtTheEnd) {
  const std::vector<bool> others_wait = waited_for(planned.plan);
  for (const LaunchGroup& group : groups)
    for (const std::size_t i : group.instructions) {
      EXPECT_TRUE(i == group.instructions.front() || planned.instruction(i).waits.empty()) << i;
      EXPECT_TRUE(i == group.instructions.back() || !others_wait[i]) << i;
    }
}

TEST_P(LaunchGroups, HaveWhatDependsOnTheStepByItself) {
  int by_themselves = 0;
  for (const LaunchGroup& group : groups)
    for (const std::size_t i : group.instructions) {
      const net::Node& node = planned.step.graph.node(planned.instruction(i).node);
      if (!node.operation->depends_on_step) continue;
      EXPECT_EQ(group.instructions.size(), 1u) << node.name;
      EXPECT_FALSE(group.repeats) << node.name;
      ++by_themselves;
    }
  EXPECT_GE(by_themselves, 2) << "there are updates, and dropout";
}

TEST_P(LaunchGroups, MakeStretchesThatBeginWhereTheLaneWaits) {
  bool inside = false;
  for (const LaunchGroup& group : groups) {
    EXPECT_EQ(inside, !group.begins_segment);
    EXPECT_TRUE(!inside || planned.instruction(group.instructions.front()).waits.empty());
    inside = !group.ends_segment;
  }
  EXPECT_FALSE(inside);
}

INSTANTIATE_TEST_SUITE_P(Plans, LaunchGroups, testing::Bool(),
                         [](const auto& parameters) { return parameters.param ? "swapping" : "keeping"; });

TEST(LaunchGroupsOfAStepThatStays, AreFew) {
  const Planned planned(false);
  std::size_t alone = 0, kernels = 0;
  for (const LaunchGroup& group : planned.groups()) {
    alone += group.repeats ? 0 : 1;
    kernels += group.instructions.size();
  }
  EXPECT_LE(planned.groups().size(), 2 * alone + 1) << "one between any two that are by themselves";
  EXPECT_GT(kernels, 5 * planned.groups().size());
}

}  // namespace
}  // namespace voxswap::swap
