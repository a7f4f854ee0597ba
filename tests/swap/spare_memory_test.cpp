// Moves of the search that use spare memory, and the memory reserved for copies in flight.
#include "swap/planners/spare_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/shape.h"
#include "swap/planners/scheduling.h"
#include "tests/swap/graphs.h"

namespace voxswap::swap {
namespace {

constexpr double second = 1;

// A chain of volumes of one size. The first four are read a second time, from the last to the first. Each
// node takes a second.
struct Chain {
  net::Graph graph;
  std::vector<net::ValueId> volumes;
  CostModel costs;
  std::int64_t bytes;

  Chain() {
    const net::ValueId x =
        graph.add_value("x", Shape{1, 4, 4, 4, 4}, net::ElementType::f32, net::Role::input);
    for (int i = 0; i < 5; ++i)
      volumes.push_back(graph.apply("sigmoid", "n" + std::to_string(i), {i == 0 ? x : volumes.back()}));
    for (int i = 3; i >= 0; --i)
      volumes.push_back(graph.apply("add", "sum" + std::to_string(i), {volumes.back(), volumes[index(i)]}));
    bytes = graph.value(x).bytes();
    costs.node_seconds.assign(graph.nodes().size(), second);
    const double rate = static_cast<double>(bytes) / (4 * second);
    costs.to_host = costs.to_device = {rate, rate};
  }
  StepProblem request(std::int64_t count, std::int64_t host) const {
    return {&graph,
            std::vector<std::int64_t>(graph.nodes().size(), 0),
            {count * bytes, host, 0},
            {volumes.back()},
            &costs};
  }
};

Schedule schedule_of(const GraphFacts& facts, const Decisions& decisions, std::int64_t reserve = 0) {
  ScheduleOptions options;
  options.device_budget = facts.problem->budgets.device;
  options.reserve = reserve;
  return schedule(facts, *expand(facts, decisions), decisions.eviction_bias, options);
}

Decisions recompute_everything(const GraphFacts& facts) {
  Decisions decisions = keep_everything(facts);
  for (net::ValueId id = 0; index(id) < facts.values.size(); ++id)
    if (facts.values[index(id)].recomputable)
      decisions.recompute[index(facts.values[index(id)].first_gap + 1)] = true;
  return decisions;
}

std::ptrdiff_t recomputations(const Schedule& schedule) {
  const auto& steps = schedule.sequence.steps;
  return std::count_if(steps.begin(), steps.end(), [](const SequenceStep& step) { return step.recomputed; });
}

// Seconds of recomputations, and of copies in (four each).
std::vector<double> seconds_spent(const GraphFacts& facts, const Schedule& schedule) {
  std::vector<double> seconds(facts.volumes.size(), 0);
  const auto& steps = schedule.sequence.steps;
  for (const SequenceStep& step : steps)
    if (step.recomputed)
      seconds[index(facts.values[index(facts.nodes[index(step.node)].writes.front())].volume)] += second;
  for (const Eviction& eviction : schedule.evictions)
    if (index(eviction.next_use) < steps.size())
      seconds[index(
          facts.values[index(schedule.sequence.live_ranges[index(eviction.live_range)].value)].volume)] +=
          4 * second;
  return seconds;
}

TEST(SpareMemory, SortsVolumesByTheTimeThatAScheduleSpendsOnThem) {
  const Chain chain;
  const StepProblem request = chain.request(4, unlimited);
  const GraphFacts facts(request);
  Decisions some = keep_everything(facts);
  some.recompute[index(facts.values[index(chain.volumes[1])].first_gap + 1)] = true;
  for (const Decisions& decisions : {keep_everything(facts), some, recompute_everything(facts)}) {
    const Schedule schedule = schedule_of(facts, decisions);
    std::vector<double> left = seconds_spent(facts, schedule);
    EXPECT_GT(*std::max_element(left.begin(), left.end()), 0);
    for (const std::int32_t id : costliest_volumes(facts, schedule)) {
      EXPECT_EQ(left[index(id)], *std::max_element(left.begin(), left.end()));
      left[index(id)] = 0;
    }
    EXPECT_EQ(*std::max_element(left.begin(), left.end()), 0);
  }
}

TEST(SpareMemory, IsFilledWithValuesThatWouldBeRecomputed) {
  const Chain chain;
  std::ptrdiff_t before = std::numeric_limits<std::ptrdiff_t>::max();
  for (const std::int64_t volumes : {5, 6, 7, 10}) {
    const StepProblem request = chain.request(volumes, 0);
    const GraphFacts facts(request);
    const Decisions everything = recompute_everything(facts);
    const Schedule recomputed = schedule_of(facts, everything);
    ASSERT_EQ(recomputed.excess, 0) << volumes;
    const Schedule kept =
        schedule_of(facts, keep_in_spare_memory(facts, recomputed, everything, request.budgets.device));
    EXPECT_EQ(kept.excess, 0) << volumes;
    EXPECT_LE(recomputations(kept), recomputations(recomputed)) << volumes;
    EXPECT_LE(recomputations(kept), before) << volumes;
    before = recomputations(kept);
  }
  EXPECT_EQ(before, 0) << "everything fits into the last budget";
}

TEST(SpareMemory, RecomputesValuesThatStall) {
  const Chain chain;
  const StepProblem request = chain.request(3, 100 * chain.bytes);
  const GraphFacts facts(request);
  const Decisions nothing = keep_everything(facts);
  const Schedule copied = schedule_of(facts, nothing);
  ASSERT_EQ(recomputations(copied), 0);
  const auto waits = std::count_if(copied.evictions.begin(), copied.evictions.end(),
                                   [](const Eviction& eviction) { return eviction.stall_seconds > 0; });
  ASSERT_GT(waits, 1) << "the link is slower than the nodes";
  std::ptrdiff_t before = 0;
  for (const double share : {0.0, 0.5, 1.0}) {
    const Decisions decisions = recompute_stalling_copies(facts, copied, nothing, share);
    const std::ptrdiff_t flags = std::count(decisions.recompute.begin(), decisions.recompute.end(), true);
    EXPECT_LE(flags, waits);
    EXPECT_GE(flags, before);
    EXPECT_EQ(flags > 0, share > 0);
    before = flags;
  }
}

TEST(SpareMemory, IsReservedForCopiesInFlight) {
  const Chain chain;
  const StepProblem request = chain.request(4, 100 * chain.bytes);
  const GraphFacts facts(request);
  const Decisions nothing = keep_everything(facts);
  const auto evictions = [](const Schedule& schedule) { return schedule.evictions.size(); };
  EXPECT_GT(evictions(schedule_of(facts, nothing, chain.bytes)), evictions(schedule_of(facts, nothing)));
  EXPECT_EQ(schedule_of(facts, nothing, chain.bytes).excess, 0);
}

// The step of a small network in slabs, and the decisions to recompute everything per use.
struct Slabs : test::StepToPlan {
  Slabs() : StepToPlan(test::step_in_slabs(4), "v100") { problem.budgets = {unlimited, unlimited, 0}; }
  static Decisions recompute_everything(const GraphFacts& facts) {
    Decisions decisions = keep_everything(facts);
    recompute_in_chains(facts, {64, true, 0, 0}, decisions);
    decisions.recompute_per_use.assign(decisions.recompute_per_use.size(), true);
    return decisions;
  }
};

TEST(Passes, AreThoseOfStepsInSlabs) {
  const Slabs slabs;
  const GraphFacts facts(slabs.problem);
  EXPECT_GT(facts.passes, 10u) << "two for every norm of the finest level, there and back";
  EXPECT_TRUE(std::is_sorted(facts.pass.begin(), facts.pass.end()));
  EXPECT_EQ(facts.pass.front(), 0);
  EXPECT_EQ(index(facts.pass.back()), facts.passes - 1);
  const Chain whole;
  const StepProblem request = whole.request(4, unlimited);
  EXPECT_EQ(GraphFacts(request).passes, 1u);
}

TEST(Passes, AreBridgedByRetainedValues) {
  const Slabs slabs;
  const GraphFacts facts(slabs.problem);
  Decisions decisions = Slabs::recompute_everything(facts);
  const std::optional<Sequence> recomputed = expand(facts, decisions);
  ASSERT_TRUE(recomputed);
  const auto pass_of = [](const Sequence& sequence, std::int32_t step) {
    return index(sequence.steps[index(step)].pass);
  };
  std::vector<const LiveRange*> before(facts.values.size(), nullptr);
  int bridged = 0, shorter = 0;
  for (const LiveRange& live_range : recomputed->live_ranges) {
    const LiveRange* previous = std::exchange(before[index(live_range.value)], &live_range);
    if (live_range.gap == net::none || previous == nullptr) continue;
    const std::size_t from = pass_of(*recomputed, previous->last_use),
                      to = pass_of(*recomputed, live_range.produced);
    if (from == to) continue;
    Decisions retaining = decisions;
    for (std::size_t pass = from; pass < to; ++pass)
      retaining.retain[index(live_range.value) * facts.passes + pass] = true;
    const std::optional<Sequence> without = expand(facts, retaining);
    ASSERT_TRUE(without);
    EXPECT_LE(without->steps.size(), recomputed->steps.size());
    shorter += without->steps.size() < recomputed->steps.size();
    for (const LiveRange& other : without->live_ranges)
      EXPECT_FALSE(other.value == live_range.value && other.gap == live_range.gap &&
                   pass_of(*without, other.produced) == to);
    if (++bridged == 20) break;
  }
  EXPECT_EQ(bridged, 20);
  EXPECT_GT(shorter, 10) << "unless a value is then recomputed for a later use";
}

TEST(Passes, AreBridgedIfThereIsSpareMemory) {
  Slabs slabs;
  const GraphFacts all(slabs.problem);
  const Decisions everything = Slabs::recompute_everything(all);
  const Schedule recomputed = schedule_of(all, everything);
  const std::vector<std::int64_t> memory = memory_of(all, recomputed.sequence);
  const std::int64_t least = *std::max_element(memory.begin(), memory.end());
  std::ptrdiff_t before = recomputations(recomputed);
  for (const std::int64_t more : {0, 1, 4, 16}) {
    slabs.problem.budgets.device = least + more * least / 16;
    const GraphFacts facts(slabs.problem);
    const Decisions decisions = retain_in_spare_memory(facts, schedule_of(facts, everything), everything,
                                                       slabs.problem.budgets.device);
    const Schedule retaining = schedule_of(facts, decisions);
    EXPECT_EQ(decisions.recompute, everything.recompute);
    EXPECT_LE(recomputations(retaining), before) << more;
    before = recomputations(retaining);
  }
  EXPECT_LT(before, recomputations(recomputed) / 2);
}

TEST(Schedule, IsAbandonedIfItTakesTooLong) {
  const Chain chain;
  const StepProblem request = chain.request(4, 100 * chain.bytes);
  const GraphFacts facts(request);
  const Decisions nothing = keep_everything(facts);
  ScheduleOptions options;
  options.device_budget = request.budgets.device;
  options.most_seconds = 8 * second;  // there are nine nodes
  EXPECT_GT(schedule(facts, *expand(facts, nothing), nothing.eviction_bias, options).excess, 0);
  options.most_seconds = 100 * second;
  EXPECT_EQ(schedule(facts, *expand(facts, nothing), nothing.eviction_bias, options).excess, 0);
}

}  // namespace
}  // namespace voxswap::swap
