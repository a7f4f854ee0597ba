// Who may be written over whom.
#include "swap/plan/in_place.h"

#include <gtest/gtest.h>

namespace voxswap {
namespace {

const Shape volume = {1, 2, 2, 2, 4};

struct InPlace : testing::Test {
  Graph graph;
  ValueId x = graph.add_value("x", volume, ElementType::f32, Role::input);
  ValueId relu(ValueId of) { return graph.apply("leaky_relu", "relu", {of}, {{"slope", 0.5}}); }
  ValueId upsample(ValueId of) { return graph.apply("upsample_nearest", "up", {of}); }
  ValueId add(ValueId a, ValueId b) { return graph.apply("add", "add", {a, b}); }
  bool last_node_may_write(ValueId output, ValueId over) const {
    return may_take_over(graph, graph.nodes().back(), output, over);
  }
};

TEST_F(InPlace, AnActivationIsWrittenOverItsInput) {
  const ValueId a = upsample(x), b = relu(a);
  EXPECT_TRUE(last_node_may_write(b, a));
}

TEST_F(InPlace, ASumIsWrittenOverEitherSummand) {
  const ValueId a = upsample(x), b = upsample(x), c = add(a, b);
  EXPECT_TRUE(last_node_may_write(c, a));
  EXPECT_TRUE(last_node_may_write(c, b));
}

TEST_F(InPlace, WhatAnOperationReadsInAnotherOrderIsNotWrittenOver) {
  const ValueId a = relu(upsample(x)), b = upsample(a);
  EXPECT_FALSE(last_node_may_write(b, a));
}

TEST_F(InPlace, InputsAreNotWrittenOver) {
  EXPECT_FALSE(last_node_may_write(relu(x), x));
}

TEST_F(InPlace, ParametersAreNotWrittenOver) {
  const ValueId p = graph.add_value("p", volume, ElementType::f32, Role::parameter);
  EXPECT_FALSE(last_node_may_write(relu(p), p));
}

TEST_F(InPlace, AValueReadTwiceByOneNodeIsNotWrittenOver) {
  const ValueId a = upsample(x), b = add(a, a);
  EXPECT_FALSE(last_node_may_write(b, a));
}

TEST_F(InPlace, AnotherElementTypeIsNotWrittenInPlace) {
  const ValueId a = upsample(x);
  const ValueId b = graph.apply("cast", "cast", {a}, {{"type", static_cast<double>(ElementType::bf16)}});
  EXPECT_FALSE(last_node_may_write(b, a));
}

}  // namespace
}  // namespace voxswap
