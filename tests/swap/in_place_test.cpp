// Who may be written over whom.
#include <gtest/gtest.h>

#include "swap/plan/places.h"

namespace voxswap::swap {
namespace {

const Shape volume = {1, 2, 2, 2, 4};

struct InPlace : testing::Test {
  net::Graph graph;
  net::ValueId x = graph.add_value("x", volume, net::ElementType::f32, net::Role::input);
  net::ValueId relu(net::ValueId of) { return graph.apply("leaky_relu", "relu", {of}, {{"slope", 0.5}}); }
  net::ValueId upsample(net::ValueId of) { return graph.apply("upsample_nearest", "up", {of}); }
  net::ValueId add(net::ValueId a, net::ValueId b) { return graph.apply("add", "add", {a, b}); }
  bool last_node_may_write(net::ValueId output, net::ValueId over) const {
    return may_take_over(graph, graph.nodes().back(), output, over);
  }
};

TEST_F(InPlace, AnActivationIsWrittenOverItsInput) {
  const net::ValueId a = upsample(x), b = relu(a);
  EXPECT_TRUE(last_node_may_write(b, a));
}

TEST_F(InPlace, ASumIsWrittenOverEitherSummand) {
  const net::ValueId a = upsample(x), b = upsample(x), c = add(a, b);
  EXPECT_TRUE(last_node_may_write(c, a));
  EXPECT_TRUE(last_node_may_write(c, b));
}

TEST_F(InPlace, WhatAnOperationReadsInAnotherOrderIsNotWrittenOver) {
  const net::ValueId a = relu(upsample(x)), b = upsample(a);
  EXPECT_FALSE(last_node_may_write(b, a));
}

TEST_F(InPlace, InputsAreNotWrittenOver) {
  EXPECT_FALSE(last_node_may_write(relu(x), x));
}

TEST_F(InPlace, ParametersAreNotWrittenOver) {
  const net::ValueId p = graph.add_value("p", volume, net::ElementType::f32, net::Role::parameter);
  EXPECT_FALSE(last_node_may_write(relu(p), p));
}

TEST_F(InPlace, AValueReadTwiceByOneNodeIsNotWrittenOver) {
  const net::ValueId a = upsample(x), b = add(a, a);
  EXPECT_FALSE(last_node_may_write(b, a));
}

TEST_F(InPlace, AnotherElementTypeIsNotWrittenInPlace) {
  const net::ValueId a = upsample(x);
  const net::ValueId b =
      graph.apply("cast", "cast", {a}, {{"type", static_cast<double>(net::ElementType::bf16)}});
  EXPECT_FALSE(last_node_may_write(b, a));
}

}  // namespace
}  // namespace voxswap::swap
