// Facts that planners derive from a graph: volumes with their slabs, and recomputable nodes.
#include "swap/planners/graph_facts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/shape.h"
#include "net/graph/fused_moments.h"
#include "swap/verify/verify.h"
#include "tests/swap/graphs.h"

namespace voxswap::swap {
namespace {

struct Facts : test::StepToPlan {
  explicit Facts(net::TrainingStep of) : StepToPlan(std::move(of)) {}
  const GraphFacts facts{problem};
};

TEST(GraphFacts, ChoosesForAllSlabsOfAVolumeTogether) {
  const Facts whole(test::step_in_slabs(net::whole_volumes));
  const GraphFacts& one_each = whole.facts;
  EXPECT_FALSE(one_each.in_slabs);
  ASSERT_EQ(one_each.volumes.size(), one_each.values.size());
  for (std::size_t id = 0; id < one_each.values.size(); ++id)
    EXPECT_EQ(one_each.volumes[id].gaps.size(), one_each.values[id].readers.size() + 1);

  const Facts cut(test::step_in_slabs(8));
  const GraphFacts& facts = cut.facts;
  EXPECT_TRUE(facts.in_slabs);
  std::size_t slabs = 0, found = 0;
  std::set<GapId> gaps;
  for (const VolumeFacts& volume : facts.volumes) {
    slabs += volume.slabs.size();
    for (const std::vector<GapId>& together : volume.gaps)
      for (const GapId gap : together) EXPECT_TRUE(gaps.insert(gap).second) << "in two choices";
    if (cut.step.graph.value(volume.slabs.front()).origin.name != "encoder.0.input") continue;
    ++found;
    // Readers: the next convolution and its weight gradient (three slabs each), the residual and more.
    EXPECT_EQ(volume.slabs.size(), 4U);
    EXPECT_EQ(volume.gaps.front().size(), 4U) << "one per slab, not per slab of the convolution";
    EXPECT_LT(volume.gaps.size(), facts.values[static_cast<std::size_t>(volume.slabs[1])].readers.size());
  }
  EXPECT_EQ(slabs, facts.values.size());
  EXPECT_EQ(found, 1U);
}

// Convolutions also return moments. The pass adds these values at the end, although others depend on them.
net::TrainingStep with_moments(std::int64_t slabs) {
  net::TrainingStep step = test::step_in_slabs(slabs);
  net::fuse_moments(step.graph, [](const net::Graph&, const net::Node&) { return true; });
  return step;
}

TEST(GraphFacts, ListTheInputsOfEveryVolumeAndAllowRecomputingConvolutionsWithMoments) {
  for (const std::int64_t slabs : {net::whole_volumes, std::int64_t{4}}) {
    Facts fused(with_moments(slabs));
    const GraphFacts& facts = fused.facts;
    for (const VolumeFacts& volume : facts.volumes)
      for (const std::int32_t source : volume.sources) {
        ASSERT_GE(source, 0);
        ASSERT_LT(index(source), facts.volumes.size());
      }
    int summing = 0;
    for (const net::Node& node : fused.step.graph.nodes()) {
      if (!node.attributes.flag("moments")) continue;
      ++summing;
      EXPECT_TRUE(facts.values[index(node.outputs[0])].recomputable) << node.name;
      EXPECT_FALSE(facts.values[index(node.outputs[1])].recomputable) << node.name;
    }
    EXPECT_GT(summing, 10);
    const std::int64_t most = fused.keep().peak_bytes;
    fused.problem.budgets.device = most / 2;
    const Plan plan = make_plan("checkpoint", fused.problem);
    EXPECT_LE(plan.peak_bytes, most / 2);
    EXPECT_EQ(verify(fused.step.graph, fused.problem.workspaces, plan), std::vector<std::string>());
    EXPECT_TRUE(std::any_of(plan.instructions.begin(), plan.instructions.end(), [&](const Instruction& run) {
      return run.recomputed && fused.step.graph.node(run.node).attributes.flag("moments");
    }));
  }
}

}  // namespace
}  // namespace voxswap::swap
