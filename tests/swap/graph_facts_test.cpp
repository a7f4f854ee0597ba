// What planners ask of graphs whose convolutions give moments beside what they make.
#include "swap/planners/graph_facts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/index.h"
#include "net/graph/fused_moments.h"
#include "net/steps/step.h"
#include "swap/verify/verify.h"

namespace voxswap::swap {
namespace {

// Values that the pass adds come last, though others are made of them.
struct Fused {
  net::TrainingStep step;
  CostModel costs;
  PlanRequest request;

  explicit Fused(std::int64_t pieces) {
    net::StepOptions options;
    options.network = {.base_filters = 4, .depth = 3};
    options.input = {1, 32, 32, 32, 4};
    options.pieces = pieces;
    step = net::build_training_step(options);
    net::fuse_moments(step.graph, [](const net::Graph&, const net::Node&) { return true; });
    costs = estimate_costs(step.graph, find_device_rates("v100"));
    request = {&step.graph,
               std::vector<std::int64_t>(step.graph.nodes().size()),
               {unlimited, 0, 0},
               {step.loss},
               &costs};
  }
  Fused(const Fused&) = delete;
};

TEST(GraphFacts, KnowOfEveryVolumeWhatItIsMadeOf) {
  for (const std::int64_t pieces : {net::whole_volumes, std::int64_t{4}}) {
    const Fused fused(pieces);
    const GraphFacts facts(fused.request);
    for (const VolumeFacts& volume : facts.volumes)
      for (const std::int32_t source : volume.sources) {
        ASSERT_GE(source, 0);
        ASSERT_LT(index(source), facts.volumes.size());
      }
  }
}

TEST(GraphFacts, LetConvolutionsRunAgainThatGiveMoments) {
  for (const std::int64_t pieces : {net::whole_volumes, std::int64_t{4}}) {
    Fused fused(pieces);
    const GraphFacts facts(fused.request);
    int summing = 0;
    for (const net::Node& node : fused.step.graph.nodes()) {
      if (!node.attributes.flag("moments")) continue;
      ++summing;
      EXPECT_TRUE(facts.values[index(node.outputs[0])].repeatable) << node.name;
      EXPECT_FALSE(facts.values[index(node.outputs[1])].repeatable) << node.name;
    }
    EXPECT_GT(summing, 10);
    const std::int64_t most = make_plan("keep", fused.request).peak_bytes;
    fused.request.budgets.device = most / 2;
    const Plan plan = make_plan("checkpoint", fused.request);
    EXPECT_LE(plan.peak_bytes, most / 2);
    EXPECT_EQ(verify(fused.step.graph, fused.request.workspaces, plan), std::vector<std::string>());
    EXPECT_TRUE(std::any_of(plan.instructions.begin(), plan.instructions.end(), [&](const Instruction& run) {
      return run.again && fused.step.graph.node(run.node).attributes.flag("moments");
    }));
  }
}

}  // namespace
}  // namespace voxswap::swap
