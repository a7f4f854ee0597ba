// Structure of the backward pass. gradient_test.cpp checks the numbers by finite differences on the reference
// backend.
#include "net/graph/autodiff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "net/graph/graph.h"
#include "net/graph/operation.h"

namespace voxswap::net {
namespace {

struct Convolution {
  Graph graph;
  ValueId x, w, b, y;
};

Convolution convolution() {
  Convolution c;
  c.x = c.graph.add_value("x", {1, 4, 4, 4, 2}, ElementType::f32, Role::input);
  c.w = c.graph.add_value("w", {2, 2, 3, 3, 3}, ElementType::f32, Role::parameter);
  c.b = c.graph.add_value("b", {2}, ElementType::f32, Role::parameter);
  c.y = c.graph.apply("conv3d", "y", {c.x, c.w, c.b}, {{"stride", 1}, {"padding", 1}});
  return c;
}

int count(const Graph& graph, std::string_view operation) {
  return static_cast<int>(std::count_if(graph.nodes().begin(), graph.nodes().end(),
                                        [&](const Node& node) { return node.operation->name == operation; }));
}

ValueId seed_like(Graph& graph, ValueId id) {
  return graph.add_value("seed", graph.value(id).shape, graph.value(id).type, Role::input);
}

TEST(Autodiff, MakesNoGradientThatNobodyWants) {
  Convolution c = convolution();
  const ValueId seed = seed_like(c.graph, c.y);
  const std::vector<ValueId> gradients = differentiate(c.graph, {{c.y, seed}}, {c.w, c.b});
  EXPECT_EQ(c.graph.value(gradients[0]).shape, c.graph.value(c.w).shape);
  EXPECT_EQ(c.graph.value(gradients[1]).shape, c.graph.value(c.b).shape);
  EXPECT_EQ(count(c.graph, "conv3d_data_gradient"), 0);
  EXPECT_EQ(count(c.graph, "conv3d_weight_gradient"), 1);
}

TEST(Autodiff, GivesNoneWhereNothingFlows) {
  Convolution c = convolution();
  const ValueId unused = c.graph.add_value("unused", {1}, ElementType::f32, Role::parameter);
  const ValueId seed = seed_like(c.graph, c.y);
  const std::vector<ValueId> gradients = differentiate(c.graph, {{c.y, seed}}, {unused, c.x});
  EXPECT_EQ(gradients[0], none);
  EXPECT_EQ(c.graph.value(gradients[1]).shape, c.graph.value(c.x).shape);
  EXPECT_EQ(count(c.graph, "conv3d_weight_gradient"), 0);
}

TEST(Autodiff, AddsTheGradientsOfAValueThatIsReadTwice) {
  Convolution c = convolution();
  const ValueId sum = c.graph.apply("add", "sum", {c.y, c.x});
  const ValueId seed = seed_like(c.graph, sum);
  const std::vector<ValueId> gradients = differentiate(c.graph, {{sum, seed}}, {c.x});
  const Node& last = c.graph.node(c.graph.value(gradients[0]).producer);
  EXPECT_EQ(last.operation->name, "add");
  EXPECT_EQ(last.inputs[0], seed) << "the gradient of an addend is the sum's gradient itself, not a copy";
}

TEST(Autodiff, GivesAValueThatIsAddedToItselfTwiceTheGradient) {
  Graph graph;
  const ValueId x = graph.add_value("x", {1, 2, 2, 2, 1}, ElementType::f32, Role::input);
  const ValueId sum = graph.apply("add", "sum", {x, x});
  const ValueId seed = seed_like(graph, sum);
  const std::vector<ValueId> gradients = differentiate(graph, {{sum, seed}}, {x});
  EXPECT_EQ(graph.node(graph.value(gradients[0]).producer).inputs, (std::vector<ValueId>{seed, seed}));
}

TEST(Autodiff, PassesNothingBackThroughNormStatistics) {
  Convolution c = convolution();
  const ValueId gamma = c.graph.add_value("gamma", {2}, ElementType::f32, Role::parameter);
  const ValueId beta = c.graph.add_value("beta", {2}, ElementType::f32, Role::parameter);
  const ValueId statistics =
      c.graph.apply("instance_norm_statistics", "statistics", {c.y}, {{"epsilon", 1e-5}});
  const ValueId z = c.graph.apply("norm_activation", "z", {c.y, statistics, gamma, beta, c.x},
                                  {{"slope", 0.3}, {"has_scale", 0}, {"has_residual", 1}});
  const ValueId seed = seed_like(c.graph, z);
  const std::vector<ValueId> gradients = differentiate(c.graph, {{z, seed}}, {gamma, beta, c.w, c.x});
  for (ValueId gradient : gradients) EXPECT_NE(gradient, none);
  EXPECT_EQ(count(c.graph, "norm_activation_sums"), 1);
  EXPECT_EQ(count(c.graph, "norm_activation_gradient"), 1);
  EXPECT_EQ(count(c.graph, "add"), 1) << "residual and convolution meet at x; nothing else is added";
}

TEST(Autodiff, DifferentiatesATransposedConvolutionIntoConvolutions) {
  Graph graph;
  const ValueId x = graph.add_value("x", {1, 2, 3, 4, 5}, ElementType::f32, Role::input);
  const ValueId w = graph.add_value("w", {5, 3, 2, 2, 2}, ElementType::f32, Role::parameter);
  const ValueId b = graph.add_value("b", {3}, ElementType::f32, Role::parameter);
  const ValueId y = graph.apply("conv3d_data_gradient", "y", {x, w, b},
                                {{"stride", 2}, {"padding", 0}, {"d", 4}, {"h", 6}, {"w", 8}});
  const ValueId seed = seed_like(graph, y);
  const std::vector<ValueId> gradients = differentiate(graph, {{y, seed}}, {x, w, b});
  const std::vector<ValueId> values = {x, w, b};
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(graph.value(gradients[i]).shape, graph.value(values[i]).shape);
  EXPECT_EQ(count(graph, "conv3d"), 1);
  EXPECT_EQ(count(graph, "channel_sum"), 1);
}

}  // namespace
}  // namespace voxswap::net
