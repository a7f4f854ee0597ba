// The lower bound, compared with results by hand and in limiting cases.
#include "swap/model/bound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/philox.h"
#include "tests/swap/graphs.h"

namespace voxswap::swap {
namespace {

constexpr std::int64_t unit = 1024;  // bytes of a volume

// Steps of volumes of one size, with given times per node.
struct Bounds : testing::Test {
  net::Graph graph;
  std::vector<net::ValueId> kept;
  CostModel costs;
  Budgets budgets{unlimited, 1 << 20, 0};

  Bounds() {
    costs.to_host = {unit, unit};  // a volume per second
    costs.to_device = {unit, unit};
    costs.to_disk = {unit / 4, unit / 4};
    costs.from_disk = {unit / 2, unit / 2};
  }
  net::ValueId input(const char* name) {
    return graph.add_value(name, {1, 4, 4, 4, 4}, net::ElementType::f32, net::Role::input);
  }
  // Not in place: inputs and outputs need separate memory.
  net::ValueId copy(const char* name, net::ValueId x, double seconds) {
    costs.node_seconds.push_back(seconds);
    return graph.apply("cast", name, {x}, {{"type", static_cast<double>(net::ElementType::f32)}});
  }
  net::ValueId in_place(const char* name, net::ValueId x, double seconds) {
    costs.node_seconds.push_back(seconds);
    return graph.apply("sigmoid", name, {x});
  }
  net::ValueId add(const char* name, net::ValueId a, net::ValueId b, double seconds) {
    costs.node_seconds.push_back(seconds);
    return graph.apply("add", name, {a, b});
  }
  std::vector<std::int64_t> workspaces() const { return std::vector<std::int64_t>(graph.nodes().size(), 0); }
  Bound bound() const { return lower_bound(graph, workspaces(), kept, costs, budgets); }
  Floor floor() const { return least_budget(graph, workspaces(), kept); }
};

TEST_F(Bounds, IsTheComputeTimeWhenEverythingFits) {
  const net::ValueId a = copy("a", input("x"), 1), b = copy("b", a, 2), c = copy("c", b, 3);
  kept = {add("d", c, a, 4)};
  for (const std::int64_t device : {unlimited, 3 * unit}) {
    budgets.device = device;
    EXPECT_EQ(bound().seconds, 10);
    EXPECT_EQ(bound().compute_seconds, 10);
    EXPECT_EQ(bound().node, net::none);
    EXPECT_EQ(bound().excess_bytes, 0);
  }
}

// While c is computed from b, a needs memory besides two volumes.
TEST_F(Bounds, CountsTheTransfersOfWhatDoesNotFit) {
  const net::ValueId a = copy("a", input("x"), 10), b = copy("b", a, 0.25), c = copy("c", b, 0.5);
  kept = {add("d", c, a, 0.25)};
  budgets.device = 2 * unit;
  costs.to_host = {unit / 16, unit / 32};  // at least 16 s in each direction
  costs.to_device = {unit / 32, unit / 16};
  const Bound result = bound();
  // The copy out takes longer than the 10.25 s before c, the copy in longer than the 0.25 s after it, and
  // recomputing a takes 10 s. With a fraction r recomputed: max(10.25, 16 (1 - r)) + 0.5 + max(0.25 + 10 r,
  // 16 (1 - r)). Above r = 23/64 the first term is constant, and the second falls until 0.25 + 10 r = 16 - 16
  // r.
  const double r = 15.75 / 26;
  EXPECT_NEAR(result.moment_seconds, 10.25 + 0.5 + 16 * (1 - r), 1e-9);
  EXPECT_GT(result.seconds, result.moment_seconds) << "what a is made of has to come back too";
  EXPECT_EQ(result.node, 2);
  EXPECT_EQ(result.excess_bytes, unit);
  EXPECT_NEAR(result.recomputed_bytes, r * unit, 1e-6);
}

TEST_F(Bounds, RecomputesWhatIsCheapAndMovesWhatIsNot) {
  const net::ValueId a = copy("a", input("x"), 0.125);
  const net::ValueId b = copy("b", a, 100), c = copy("c", b, 1), d = copy("d", c, 1);
  const net::ValueId e = add("e", d, b, 1);
  kept = {add("f", e, a, 1)};
  budgets.device = 2 * unit;  // d is computed from c while a and b are live
  costs.to_device = {unit / 1000.0, unit / 1000.0};
  const Bound result = bound();
  EXPECT_EQ(result.excess_bytes, 2 * unit);
  // All of a and part of b are recomputed: 2 + 0.125 + 100 r = 1000 (1 - r).
  const double r = (1000 - 2.125) / 1100;
  EXPECT_NEAR(result.recomputed_bytes, (1 + r) * unit, 1e-6);
  EXPECT_NEAR(result.moment_seconds, 102.125 + 1000 * (1 - r), 1e-6);
  EXPECT_GT(result.seconds, result.moment_seconds) << "what a is made of has to come back too";
}

TEST_F(Bounds, OnlyRecomputesWhereNothingCanLeave) {
  const net::ValueId a = copy("a", input("x"), 1), b = copy("b", a, 1), c = copy("c", b, 1);
  kept = {add("d", c, a, 1)};
  budgets = {2 * unit, 0, 1 << 20};  // swapping to disk needs host memory
  EXPECT_NEAR(bound().seconds, 5, 1e-9);
  EXPECT_NEAR(bound().recomputed_bytes, unit, 1e-9);
  budgets.host = 1 << 20;
  costs.to_host = {};
  EXPECT_NEAR(bound().seconds, 5, 1e-9);
}

// An input is in host memory already: neither a pool nor a copy out is needed.
TEST_F(Bounds, BringInAnInputThatDoesNotFitAndAreInfiniteWhereNothingBringsIt) {
  const net::ValueId x = input("x"), a = copy("a", x, 1), b = copy("b", a, 1);
  kept = {add("c", b, x, 1)};
  for (const std::int64_t host : {unit, unit / 2, std::int64_t{0}}) {
    budgets = {2 * unit, host, 0};
    costs.to_host = {unit / 64, unit / 64};
    costs.to_device = {unit / 4, unit / 4};
    EXPECT_NEAR(bound().seconds, 1 + 1 + 4, 1e-9);  // besides c
    EXPECT_EQ(bound().node, 1);
  }
  costs.to_device = {};
  EXPECT_TRUE(std::isinf(bound().seconds));
  EXPECT_EQ(bound().node, 1);
}

TEST_F(Bounds, SendWhatTheHostCannotHoldToDisk) {
  const net::ValueId p = copy("p", input("x"), 4), a = copy("a", p, 1), b = copy("b", a, 1);
  kept = {add("c", b, p, 1)};
  budgets = {2 * unit, unit / 2, unit};
  // Half of p passes the disk, or a fraction r of it is recomputed.
  EXPECT_NEAR(bound().seconds, 5 + 1 + 1, 1e-9);
  costs.from_disk = {unit / 16, unit / 16};  // 1 + 4 r = 16 (1/2 - r)
  EXPECT_NEAR(bound().seconds, 5 + 1 + 1 + 4 * 0.35, 1e-9);
  costs.from_disk = {unit, unit};
  costs.to_disk = {unit / 64, unit / 64};  // 64 (1/2 - r) = 5
  EXPECT_NEAR(bound().seconds, 5 + 1 + 1 + 4 * (0.5 - 5.0 / 64), 1e-9);
}

TEST_F(Bounds, WriteInPlaceWhereThatIsAllowed) {
  const net::ValueId a = copy("a", input("x"), 1), b = in_place("b", a, 1), c = in_place("c", b, 1);
  kept = {c};
  EXPECT_EQ(floor().bytes, 2 * unit);  // x and a
  EXPECT_EQ(floor().node, 0);
  budgets = {2 * unit, 0, 0};
  EXPECT_EQ(bound().seconds, 3);
}

// The input of an in-place node may be evicted even if it is read later, so the node needs memory for one
// volume only.
TEST_F(Bounds, CountAnInputThatIsWrittenOverAmongWhatLeaves) {
  const net::ValueId x = input("x"), a = copy("a", x, 1), b = in_place("b", a, 1), c = copy("c", x, 1);
  const net::ValueId d = add("d", b, c, 1);
  kept = {add("e", d, a, 1)};
  EXPECT_EQ(floor().bytes, 2 * unit);
  budgets = {2 * unit, 1 << 20, 0};
  // At c: x and c fill the memory; a and b are evicted, and each can be recomputed in 1 s. r = 0: max(2, 2) +
  // 1 + max(2, 2).
  EXPECT_NEAR(bound().seconds, 5, 1e-9);
  budgets = {2 * unit, 0, 0};
  EXPECT_NEAR(bound().seconds, 7, 1e-9);  // both are recomputed
}

TEST_F(Bounds, LetInputsBeginOutsideAndKeptValuesEndThere) {
  const net::ValueId x = input("x"), y = input("y"), z = input("z");
  const net::ValueId a = copy("a", x, 1);
  const net::ValueId b = copy("b", y, 1);
  const net::ValueId c = copy("c", z, 1);
  kept = {a, b, c, a, net::none};
  EXPECT_EQ(floor().bytes, 2 * unit);
  EXPECT_EQ(floor().node, 0);
  costs.to_host = costs.to_device = {unit / 2, unit / 2};  // 2 s each
  for (const std::int64_t host : {std::int64_t{1} << 20, std::int64_t{0}}) {
    budgets = {2 * unit, host, 0};
    // The running node fills the memory, so the next value is copied in after it, and after its output was
    // copied out: 1 + 2 + 1 + 2 + 1. The bound at one node is only 5.
    EXPECT_GE(bound().seconds, 5 - 1e-9);
    EXPECT_LE(bound().seconds, 7 + 1e-9);
    budgets.device = 2 * unit - 64;
    EXPECT_TRUE(std::isinf(bound().seconds));
  }
}

TEST_F(Bounds, CountPersistentValuesAndWorkspaces) {
  const net::ValueId x = input("x");
  const net::ValueId w =
      graph.add_value("w", {4, 4, 1, 1, 1}, net::ElementType::f32, net::Role::parameter);  // 64 bytes
  graph.add_value("m", {20}, net::ElementType::f32, net::Role::optimizer_state);           // 80 bytes
  costs.node_seconds = {1};
  kept = {graph.apply("conv3d", "a", {x, w}, {{"stride", 1}, {"padding", 0}})};
  const Floor least = least_budget(graph, {100}, kept);
  EXPECT_EQ(least.bytes, 2 * unit + 64 + 128 + 128);
  EXPECT_EQ(least.node, 0);
  budgets.device = least.bytes;
  EXPECT_EQ(lower_bound(graph, {100}, kept, costs, budgets).seconds, 1);
  budgets.device = least.bytes - 64;
  const Bound under = lower_bound(graph, {100}, kept, costs, budgets);
  EXPECT_TRUE(std::isinf(under.seconds));
  EXPECT_EQ(under.node, 0);
}

// Up to the gap that the search for multipliers (relaxation.cpp) leaves.
TEST_F(Bounds, FallAsBudgetsAndRatesRise) {
  constexpr double at_most = 1.002;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const test::SmallStep step = test::random_step(seed, 25);
    const Philox random(seed, 2);
    CostModel model = costs;
    for (std::size_t i = 0; i < step.graph.nodes().size(); ++i)
      model.node_seconds.push_back(random.uniform(i));
    const std::vector<std::int64_t> none_needed(step.graph.nodes().size(), 0);
    const auto seconds = [&](const CostModel& with, const Budgets& within) {
      return lower_bound(step.graph, none_needed, step.kept, with, within).seconds;
    };
    const std::int64_t least = least_budget(step.graph, none_needed, step.kept).bytes;
    double before = std::numeric_limits<double>::infinity();
    for (std::int64_t device = least; device < least + 1024; device += 128) {
      const double now = seconds(model, {device, 256, 256});
      EXPECT_LE(now, before * at_most);
      before = now;
      EXPECT_LE(seconds(model, {device, 512, 256}), now * at_most);
      EXPECT_LE(seconds(model, {device, 256, 512}), now * at_most);
      for (const auto link :
           {&CostModel::to_host, &CostModel::to_device, &CostModel::to_disk, &CostModel::from_disk}) {
        CostModel faster = model;
        (faster.*link).alone *= 1.5;
        EXPECT_LE(seconds(faster, {device, 256, 256}), now * at_most);
      }
    }
    EXPECT_TRUE(std::isinf(seconds(model, {least - 64, 1 << 20, 1 << 20})));
  }
}

// As many nodes as a deep network or a step in slabs; an algorithm over all pairs would take too long.
TEST(BoundOfALargeStep, IsFoundForThousandsOfNodes) {
  const int depth = 3000;
  const test::SmallStep step = test::hourglass(1, depth);
  const net::Graph& graph = step.graph;
  const std::vector<std::int64_t> workspaces(graph.nodes().size(), 0);
  CostModel costs;
  const Philox random(1, 1);
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) costs.node_seconds.push_back(random.uniform(i));
  costs.to_host = costs.to_device = {100, 100};
  const Budgets budgets{depth * 128 / 8, 1 << 30, 0};
  const Bound bound = lower_bound(graph, workspaces, step.kept, costs, budgets);
  EXPECT_GT(bound.seconds, bound.compute_seconds);
}

}  // namespace
}  // namespace voxswap::swap
