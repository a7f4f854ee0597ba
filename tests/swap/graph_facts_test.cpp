// What planners know of a graph: the pieces of a volume as one.
#include "swap/planners/graph_facts.h"

#include <gtest/gtest.h>

#include <set>

#include "net/graph/piece.h"
#include "net/steps/step.h"
#include "swap/model/costs.h"

namespace voxswap::swap {
namespace {

struct Facts {
  net::TrainingStep step;
  CostModel costs;
  PlanRequest request;
  GraphFacts facts;

  explicit Facts(const net::StepOptions& options)
      : step(net::build_training_step(options)),
        costs(estimate_costs(step.graph, find_device_rates("cpu"))),
        request{&step.graph, std::vector<std::int64_t>(step.graph.nodes().size()), {}, {step.loss}, &costs},
        facts(request) {}
};

TEST(GraphFacts, ChoosesForAllPiecesOfAVolumeTogether) {
  net::StepOptions options;
  options.network = {.base_filters = 4, .depth = 3};
  options.input = {1, 32, 32, 32, 4};
  const Facts whole(options);
  const GraphFacts& one_each = whole.facts;
  EXPECT_FALSE(one_each.in_pieces);
  ASSERT_EQ(one_each.volumes.size(), one_each.values.size());
  for (std::size_t id = 0; id < one_each.values.size(); ++id)
    EXPECT_EQ(one_each.volumes[id].gaps.size(), one_each.values[id].readers.size() + 1);

  options.pieces = 8;
  const Facts cut(options);
  const GraphFacts& facts = cut.facts;
  EXPECT_TRUE(facts.in_pieces);
  std::size_t pieces = 0, found = 0;
  std::set<GapId> gaps;
  for (const VolumeFacts& volume : facts.volumes) {
    pieces += volume.pieces.size();
    for (const std::vector<GapId>& together : volume.gaps)
      for (const GapId gap : together) EXPECT_TRUE(gaps.insert(gap).second) << "in two choices";
    const std::string& name = cut.step.graph.value(volume.pieces.front()).name;
    if (net::split_piece_name(name).volume != "encoder.0.input") continue;
    ++found;
    // Read by the next convolution and its weight gradient, three pieces of each, the residual and more.
    EXPECT_EQ(volume.pieces.size(), 4U);
    EXPECT_EQ(volume.gaps.front().size(), 4U) << "one per piece, not per piece of the convolution";
    EXPECT_LT(volume.gaps.size(), facts.values[static_cast<std::size_t>(volume.pieces[1])].readers.size());
  }
  EXPECT_EQ(pieces, facts.values.size());
  EXPECT_EQ(found, 1U);
}

}  // namespace
}  // namespace voxswap::swap
