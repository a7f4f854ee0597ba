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

}  // namespace
}  // namespace voxswap::net
