// The passes on a network small enough to read its whole step.
#include "net/steps/passes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "net/graph/autodiff.h"

namespace voxswap::net {
namespace {

// conv a -> norm + activation b -> upsample c -> conv y, with the gradient of <seed, y>.
Graph tiny_step() {
  Graph graph;
  const auto parameter = [&](const char* name, const Shape& shape) {
    return graph.add_value(name, shape, ElementType::f32, Role::parameter);
  };
  const ValueId w1 = parameter("w1", {2, 1, 1, 1, 1}), gamma = parameter("gamma", {2}),
                beta = parameter("beta", {2}), w2 = parameter("w2", {1, 2, 1, 1, 1});
  const ValueId x = graph.add_value("x", {1, 2, 2, 2, 1}, ElementType::bf16, Role::input);
  const ValueId seed = graph.add_value("seed", {1, 4, 4, 4, 1}, ElementType::bf16, Role::input);
  const Attributes window = {{"stride", 1}, {"padding", 0}};
  const ValueId a = graph.apply("conv3d", "a", {x, w1}, window);
  const ValueId s = graph.apply("instance_norm_statistics", "s", {a}, {{"epsilon", 1}});
  const ValueId b = graph.apply("norm_activation", "b", {a, s, gamma, beta},
                                {{"slope", 0.3}, {"has_scale", 0}, {"has_residual", 0}});
  const ValueId c = graph.apply("upsample_nearest", "c", {b});
  const ValueId y = graph.apply("conv3d", "y", {c, w2}, window);
  const std::vector<ValueId> parameters = {w1, gamma, beta, w2};
  const std::vector<ValueId> gradients = differentiate(graph, {{y, seed}}, parameters);
  graph.phase = Phase::update;
  const auto update = [&](const char* name, const std::vector<std::size_t>& indices) {
    std::vector<ValueId> inputs, updates;
    for (const std::size_t i : indices) {
      const Value value = graph.value(parameters[i]);
      const ValueId m = graph.add_value(value.name + ".m", value.shape, value.type, Role::optimizer_state);
      const ValueId v = graph.add_value(value.name + ".v", value.shape, value.type, Role::optimizer_state);
      inputs.push_back(gradients[i]);
      updates.insert(updates.end(), {parameters[i], m, v});
    }
    graph.add("adam", name, inputs, {}, updates);
  };
  update("w1.update", {0});
  update("others.update", {1, 2, 3});
  return graph;
}

// Both texts agree up to here.
const std::string begin_of_text =
    "forward a = conv3d(x, w1) padding=0 stride=1 -> 1x2x2x2x2 bf16\n"
    "forward s = instance_norm_statistics(a) epsilon=1 -> 1x2x2 f32\n"
    "forward b = norm_activation(a, s, gamma, beta) has_residual=0 has_scale=0 slope=0.3 -> 1x2x2x2x2 bf16\n"
    "forward c = upsample_nearest(b) -> 1x4x4x4x2 bf16\n"
    "forward y = conv3d(c, w2) padding=0 stride=1 -> 1x4x4x4x1 bf16\n"
    "backward y.weight_gradient = conv3d_weight_gradient(c, seed) bias=0 kernel=1 padding=0 stride=1 "
    "-> 1x2x1x1x1 f32\n"
    "backward y.data_gradient = conv3d_data_gradient(seed, w2) d=4 h=4 padding=0 stride=1 w=4 "
    "-> 1x4x4x4x2 bf16\n"
    "backward c.gradient = upsample_nearest_gradient(y.data_gradient) -> 1x2x2x2x2 bf16\n"
    "backward b.sums = norm_activation_sums(a, s, gamma, beta, c.gradient) has_scale=0 slope=0.3 "
    "-> 1x2x2 f32\n"
    "backward b.parameter_gradient = norm_parameter_gradient(b.sums) -> 2 f32 -> 2 f32\n"
    "backward b.norm_gradient = norm_activation_gradient(a, s, gamma, beta, c.gradient, b.sums) "
    "has_scale=0 slope=0.3 voxels=8 -> 1x2x2x2x2 bf16\n";
const std::string last_gradient =
    "backward a.weight_gradient = conv3d_weight_gradient(x, b.norm_gradient) bias=0 kernel=1 padding=0 "
    "stride=1 -> 2x1x1x1x1 f32\n";
const std::string its_update = "update w1.update = adam(a.weight_gradient) updates w1, w1.m, w1.v\n";
const std::string other_updates =
    "update others.update = adam(b.parameter_gradient, b.parameter_gradient.1, y.weight_gradient) "
    "updates gamma, gamma.m, gamma.v, beta, beta.m, beta.v, w2, w2.m, w2.v\n";

TEST(Autodiff, OfATinyNetReadsAsTheFormulasSay) {
  EXPECT_EQ(tiny_step().text(), begin_of_text + last_gradient + its_update + other_updates);
}

TEST(Passes, MoveUpdatesToWhereParametersAndGradientsAreNeededNoMore) {
  Graph graph = tiny_step();
  update_early(graph);
  EXPECT_EQ(graph.text(), begin_of_text + other_updates + last_gradient + its_update);
}

// --- Volumes that wait until they are needed, when a step is split into slabs

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

TEST(LateOrder, DelaysNothingWithAnInputThatIsNoLongerNeeded) {
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
