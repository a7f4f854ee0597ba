// When values live, and who may be written over whom.
#include "swap/lifetimes.h"

#include <gtest/gtest.h>

namespace voxswap {
namespace {

const Shape volume = {1, 2, 2, 2, 4};

const Lifetime* find(const std::vector<Lifetime>& all, ValueId value) {
  for (const Lifetime& lifetime : all)
    if (lifetime.value == value) return &lifetime;
  return nullptr;
}

struct Lifetimes : testing::Test {
  Graph graph;
  ValueId input(const char* name) { return graph.add_value(name, volume, ElementType::f32, Role::input); }
  ValueId relu(ValueId x) { return graph.apply("leaky_relu", "relu", {x}, {{"slope", 0.5}}); }
  ValueId upsample(ValueId x) { return graph.apply("upsample_nearest", "up", {x}); }
  ValueId add(ValueId a, ValueId b) { return graph.apply("add", "add", {a, b}); }
};

TEST_F(Lifetimes, ReachFromTheProducerToTheLastReader) {
  const ValueId x = input("x"), a = upsample(x), b = upsample(a), c = add(a, a);
  const std::vector<Lifetime> all = lifetimes(graph, {});
  EXPECT_EQ(find(all, x)->first, 0);
  EXPECT_EQ(find(all, x)->last, 0);
  EXPECT_EQ(find(all, a)->first, 0);
  EXPECT_EQ(find(all, a)->last, 2);
  EXPECT_EQ(find(all, b)->last, 1);  // nobody reads it: it lives while it is made
  EXPECT_EQ(find(all, c)->bytes, graph.value(c).bytes());
}

TEST_F(Lifetimes, InputsThatNothingReadsHaveNone) {
  const ValueId unread = input("unread"), x = input("x");
  upsample(x);
  EXPECT_EQ(find(lifetimes(graph, {}), unread), nullptr);
}

TEST_F(Lifetimes, OfPersistentAndKeptValuesReachToTheEnd) {
  const ValueId p = graph.add_value("p", {4}, ElementType::f32, Role::parameter);
  const ValueId x = input("x"), a = upsample(x);
  upsample(a);
  upsample(a);
  EXPECT_EQ(find(lifetimes(graph, {}), p)->last, 2);
  EXPECT_EQ(find(lifetimes(graph, {}), p)->first, 0);
  EXPECT_EQ(find(lifetimes(graph, {x, none}), x)->last, 2);
}

TEST_F(Lifetimes, AnOutputIsWrittenOverAnInputThatDies) {
  const ValueId x = input("x"), a = upsample(x), b = relu(a), c = relu(b);
  const std::vector<Lifetime> all = lifetimes(graph, {});
  EXPECT_EQ(find(all, b)->shares, a);
  EXPECT_EQ(find(all, c)->shares, b);  // a chain
}

TEST_F(Lifetimes, InputsAndKeptValuesAreNotWrittenOver) {
  const ValueId x = input("x"), a = relu(x), b = relu(a);
  const std::vector<Lifetime> all = lifetimes(graph, {a});
  EXPECT_EQ(find(all, a)->shares, none);
  EXPECT_EQ(find(all, b)->shares, none);
}

TEST_F(Lifetimes, ValuesThatAreReadLaterAreNotWrittenOver) {
  const ValueId x = input("x"), a = upsample(x), b = relu(a), c = add(b, a);
  const std::vector<Lifetime> all = lifetimes(graph, {});
  EXPECT_EQ(find(all, b)->shares, none);
  EXPECT_EQ(find(all, c)->shares, b);  // the first of the two that die
}

TEST_F(Lifetimes, TheOtherSummandIsTakenWhenTheFirstLivesOn) {
  const ValueId x = input("x"), a = upsample(x), b = upsample(x), c = add(a, b);
  add(a, c);
  EXPECT_EQ(find(lifetimes(graph, {}), c)->shares, b);
}

TEST_F(Lifetimes, AValueReadTwiceByOneNodeIsNotWrittenOver) {
  const ValueId x = input("x"), a = upsample(x), b = add(a, a);
  EXPECT_EQ(find(lifetimes(graph, {}), b)->shares, none);
}

TEST_F(Lifetimes, AnotherElementTypeIsNotWrittenInPlace) {
  const ValueId x = input("x"), a = upsample(x);
  const ValueId b = graph.apply("cast", "cast", {a}, {{"type", static_cast<double>(ElementType::bf16)}});
  EXPECT_EQ(find(lifetimes(graph, {}), b)->shares, none);
}

TEST_F(Lifetimes, ParametersAreNotWrittenOver) {
  const ValueId p = graph.add_value("p", volume, ElementType::f32, Role::parameter);
  const ValueId a = relu(p);
  EXPECT_EQ(find(lifetimes(graph, {}), a)->shares, none);
}

}  // namespace
}  // namespace voxswap
