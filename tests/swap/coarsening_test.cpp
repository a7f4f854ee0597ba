// Steps in many slabs are searched with fewer slabs first.
#include "swap/planners/coarsening.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "swap/model/simulator.h"
#include "swap/planners/planner.h"
#include "swap/verify/verify.h"
#include "tests/swap/graphs.h"

namespace voxswap::swap {
namespace {

struct InTwoSizes : test::StepToPlan {
  net::TrainingStep coarse = test::step_in_slabs(8);

  InTwoSizes() : StepToPlan(test::step_in_slabs(2), "v100") {
    problem.workspaces.back() = 4096;
    problem.in_fewer_slabs = &coarse.graph;
  }
};

double seconds_of(const CostModel& costs) {
  return std::accumulate(costs.node_seconds.begin(), costs.node_seconds.end(), 0.0);
}

TEST(StepInFewerSlabs, TakeAsLongAsTheFinerStep) {
  const InTwoSizes steps;
  const StepInFewerSlabs fewer(steps.problem);
  EXPECT_EQ(fewer.problem.graph, &steps.coarse.graph);
  EXPECT_EQ(fewer.problem.in_fewer_slabs, nullptr);
  EXPECT_NEAR(seconds_of(fewer.costs), seconds_of(steps.costs), 0.01 * seconds_of(steps.costs))
      << "except sums over slabs of values that are whole in the other";
  EXPECT_EQ(fewer.problem.workspaces.size(), steps.coarse.graph.nodes().size());
  EXPECT_EQ(fewer.problem.workspaces.back(), 4096);
  EXPECT_EQ(fewer.problem.kept, std::vector<net::ValueId>{steps.coarse.loss});
}

// Slabs of 8 planes instead of 2: decisions for the second slab apply to four.
TEST(StepInFewerSlabs, GiveTheirDecisionsToTheSlabsInThem) {
  const InTwoSizes steps;
  const StepInFewerSlabs fewer(steps.problem);
  const GraphFacts coarse(fewer.problem), fine(steps.problem);
  Decisions decisions = keep_everything(coarse);
  decisions.reserve = 0.25;
  decisions.reuse_window = 48;
  for (std::size_t id = 0; id < coarse.values.size(); ++id) {
    if (steps.coarse.graph.value(static_cast<net::ValueId>(id)).name != "encoder.0.input[1]") continue;
    const ValueFacts& value = coarse.values[id];
    decisions.recompute_per_use[id] = true;
    decisions.eviction_bias[id] = 2;
    std::fill_n(decisions.retain.begin() + static_cast<std::ptrdiff_t>(id * coarse.passes), coarse.passes,
                true);
    decisions.recompute[static_cast<std::size_t>(value.first_gap)] = true;
    decisions.recompute[static_cast<std::size_t>(value.first_gap) + value.readers.size()] = true;
  }
  const Decisions found = for_finer(coarse, decisions, fine);
  EXPECT_EQ(found.reserve, 0.25);
  EXPECT_EQ(found.reuse_window, 48);
  std::size_t chosen = 0;
  for (std::size_t id = 0; id < fine.values.size(); ++id) {
    const net::Origin& origin = steps.step.graph.value(static_cast<net::ValueId>(id)).origin;
    const bool within = origin.name == "encoder.0.input" && origin.slab / 4 == 1;
    chosen += within;
    EXPECT_EQ(found.recompute_per_use[id], within) << origin.text();
    EXPECT_EQ(found.eviction_bias[id], within ? 2 : 1);
    for (std::size_t pass = 0; pass < fine.passes; ++pass)
      EXPECT_EQ(found.retain[id * fine.passes + pass], within);
    const ValueFacts& value = fine.values[id];
    for (std::size_t gap = 0; gap <= value.readers.size(); ++gap)
      EXPECT_EQ(found.recompute[static_cast<std::size_t>(value.first_gap) + gap],
                within && (gap == 0 || gap == value.readers.size()))
          << origin.text() << ", gap " << gap;
  }
  EXPECT_EQ(chosen, 4U);
}

TEST(StepInFewerSlabs, LeadToVerifiedPlansOfTheFinerStep) {
  InTwoSizes steps;
  steps.problem.budgets = {std::int64_t{2} << 20, std::int64_t{1} << 30, 0};
  const Plan plan = make_plan("hybrid", steps.problem);
  EXPECT_LE(plan.peak_bytes, steps.problem.budgets.device);
  EXPECT_EQ(verify(steps.step.graph, steps.problem.workspaces, plan), std::vector<std::string>());
  EXPECT_NEAR(simulate(plan, steps.costs).seconds, plan.predicted_seconds, 1e-9);
}

}  // namespace
}  // namespace voxswap::swap
