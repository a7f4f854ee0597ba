// Which volumes wait until they are needed, when a step is cut into pieces.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "net/graph/graph.h"
#include "net/steps/passes.h"

namespace voxswap::net {
namespace {

struct Step {
  Graph graph;
  ValueId x = graph.add_value("x", Shape{1, 4, 4, 4, 4}, ElementType::f32, Role::input);

  ValueId sigmoid(const std::string& name, ValueId of) { return graph.apply("sigmoid", name, {of}); }
  ValueId sum(const std::string& name, ValueId a, ValueId b) { return graph.apply("add", name, {a, b}); }
  std::vector<std::string> order(bool volumes = true) const {
    std::vector<std::string> names;
    for (const NodeId id : late_order(graph, [&](ValueId) { return volumes; }))
      names.push_back(graph.node(id).name);
    return names;
  }
};

TEST(LateOrder, LetsAVolumeWaitThatIsMadeOfWhatIsNeededLaterAnyhow) {
  Step step;
  const ValueId skip = step.sigmoid("skip", step.x);
  const ValueId half = step.sigmoid("half", skip);
  const ValueId below = step.sigmoid("below", step.x);
  const ValueId up = step.sigmoid("up", below);
  const ValueId both = step.sum("both", half, up);
  step.sum("gradient", both, skip);
  EXPECT_EQ(step.order(), (std::vector<std::string>{"skip", "below", "up", "half", "both", "gradient"}));
  EXPECT_EQ(step.order(false), (std::vector<std::string>{"skip", "half", "below", "up", "both", "gradient"}))
      << "values that stay whole stay where they are";
}

TEST(LateOrder, LetsNothingWaitWhoseInputIsDoneWith) {
  Step step;
  const ValueId skip = step.sigmoid("skip", step.x);
  const ValueId half = step.sigmoid("half", skip);
  const ValueId below = step.sigmoid("below", step.x);
  const ValueId up = step.sigmoid("up", below);
  step.sum("both", half, up);
  EXPECT_EQ(step.order(), (std::vector<std::string>{"skip", "half", "below", "up", "both"}));
}

TEST(LateOrder, LetsNothingWaitForWhichAParameterIsUpdated) {
  Step step;
  const ValueId weight = step.graph.add_value("weight", {4, 4, 1, 1, 1}, ElementType::f32, Role::parameter);
  const ValueId skip = step.sigmoid("skip", step.x);
  const ValueId half = step.graph.apply("conv3d", "half", {skip, weight}, {{"stride", 1}, {"padding", 0}});
  const ValueId below = step.sigmoid("below", step.x);
  step.graph.add("sigmoid", "update", {below}, {}, {weight});
  const ValueId both = step.sum("both", half, below);
  step.sum("gradient", both, skip);
  EXPECT_EQ(step.order(), (std::vector<std::string>{"skip", "half", "below", "update", "both", "gradient"}));
}

}  // namespace
}  // namespace voxswap::net
