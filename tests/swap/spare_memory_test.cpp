// Choices that use what a schedule leaves unused, and the memory that is left for copies.
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

// A chain of volumes of the same size, of which the first four are read again from the last to the first.
// Each takes a second to make.
struct Chain {
  net::Graph graph;
  std::vector<net::ValueId> made;
  CostModel costs;
  std::int64_t bytes;

  Chain() {
    const net::ValueId x =
        graph.add_value("x", Shape{1, 4, 4, 4, 4}, net::ElementType::f32, net::Role::input);
    for (int i = 0; i < 5; ++i)
      made.push_back(graph.apply("sigmoid", "n" + std::to_string(i), {i == 0 ? x : made.back()}));
    for (int i = 3; i >= 0; --i)
      made.push_back(graph.apply("add", "sum" + std::to_string(i), {made.back(), made[index(i)]}));
    bytes = graph.value(x).bytes();
    costs.node_seconds.assign(graph.nodes().size(), second);
    const double rate = static_cast<double>(bytes) / (4 * second);
    costs.to_host = costs.to_device = {rate, rate};
  }
  PlanRequest request(std::int64_t volumes, std::int64_t host) const {
    return {&graph,
            std::vector<std::int64_t>(graph.nodes().size(), 0),
            {volumes * bytes, host, 0},
            {made.back()},
            &costs};
  }
};

Schedule schedule_of(const GraphFacts& facts, const Decisions& choice, std::int64_t reserve = 0) {
  ScheduleOptions options;
  options.device_budget = facts.request->budgets.device;
  options.reserve = reserve;
  return schedule(facts, *expand(facts, choice), choice.bias, options);
}

Decisions everything_again(const GraphFacts& facts) {
  Decisions choice = keep_everything(facts);
  for (net::ValueId id = 0; index(id) < facts.values.size(); ++id)
    if (facts.values[index(id)].repeatable) choice.again[index(facts.values[index(id)].first_gap + 1)] = true;
  return choice;
}

std::ptrdiff_t runs_again(const Schedule& schedule) {
  const auto& steps = schedule.sequence.steps;
  return std::count_if(steps.begin(), steps.end(), [](const SequenceStep& step) { return step.again; });
}

// Seconds that runs again take, and copies in, four each.
std::vector<double> seconds_spent(const GraphFacts& facts, const Schedule& schedule) {
  std::vector<double> seconds(facts.volumes.size(), 0);
  const auto& steps = schedule.sequence.steps;
  for (const SequenceStep& step : steps)
    if (step.again)
      seconds[index(facts.values[index(facts.nodes[index(step.node)].makes.front())].volume)] += second;
  for (const IdleTime& eviction : schedule.evictions)
    if (index(eviction.needed) < steps.size())
      seconds[index(facts.values[index(schedule.sequence.lives[index(eviction.life)].value)].volume)] +=
          4 * second;
  return seconds;
}

TEST(SpareMemory, TellsOnWhichVolumesAScheduleSpendsMostTime) {
  const Chain chain;
  const PlanRequest request = chain.request(4, unlimited);
  const GraphFacts facts(request);
  Decisions some = keep_everything(facts);
  some.again[index(facts.values[index(chain.made[1])].first_gap + 1)] = true;
  for (const Decisions& choice : {keep_everything(facts), some, everything_again(facts)}) {
    const Schedule schedule = schedule_of(facts, choice);
    std::vector<double> left = seconds_spent(facts, schedule);
    EXPECT_GT(*std::max_element(left.begin(), left.end()), 0);
    for (const std::int32_t id : costliest_volumes(facts, schedule)) {
      EXPECT_EQ(left[index(id)], *std::max_element(left.begin(), left.end()));
      left[index(id)] = 0;
    }
    EXPECT_EQ(*std::max_element(left.begin(), left.end()), 0);
  }
}

TEST(SpareMemory, IsFilledWithWhatWouldBeMadeAgain) {
  const Chain chain;
  std::ptrdiff_t before = std::numeric_limits<std::ptrdiff_t>::max();
  for (const std::int64_t volumes : {5, 6, 7, 10}) {
    const PlanRequest request = chain.request(volumes, 0);
    const GraphFacts facts(request);
    const Decisions again = everything_again(facts);
    const Schedule dropped = schedule_of(facts, again);
    ASSERT_EQ(dropped.excess, 0) << volumes;
    const Schedule kept =
        schedule_of(facts, keep_in_spare_memory(facts, dropped, again, request.budgets.device));
    EXPECT_EQ(kept.excess, 0) << volumes;
    EXPECT_LE(runs_again(kept), runs_again(dropped)) << volumes;
    EXPECT_LE(runs_again(kept), before) << volumes;
    before = runs_again(kept);
  }
  EXPECT_EQ(before, 0) << "everything fits into the last budget";
}

TEST(SpareMemory, MakesAgainWhatIsWaitedFor) {
  const Chain chain;
  const PlanRequest request = chain.request(3, 100 * chain.bytes);
  const GraphFacts facts(request);
  const Decisions nothing = keep_everything(facts);
  const Schedule copied = schedule_of(facts, nothing);
  ASSERT_EQ(runs_again(copied), 0);
  const auto waits = std::count_if(copied.evictions.begin(), copied.evictions.end(),
                                   [](const IdleTime& eviction) { return eviction.waited > 0; });
  ASSERT_GT(waits, 1) << "the link is slower than the nodes";
  std::ptrdiff_t before = 0;
  for (const double share : {0.0, 0.5, 1.0}) {
    const Decisions choice = recompute_awaited_copies(facts, copied, nothing, share);
    const std::ptrdiff_t flags = std::count(choice.again.begin(), choice.again.end(), true);
    EXPECT_LE(flags, waits);
    EXPECT_GE(flags, before);
    EXPECT_EQ(flags > 0, share > 0);
    before = flags;
  }
}

TEST(SpareMemory, IsLeftForCopiesOnTheirWay) {
  const Chain chain;
  const PlanRequest request = chain.request(4, 100 * chain.bytes);
  const GraphFacts facts(request);
  const Decisions nothing = keep_everything(facts);
  const auto evictions = [](const Schedule& schedule) { return schedule.evictions.size(); };
  EXPECT_GT(evictions(schedule_of(facts, nothing, chain.bytes)), evictions(schedule_of(facts, nothing)));
  EXPECT_EQ(schedule_of(facts, nothing, chain.bytes).excess, 0);
}

// A small network's step in pieces, and the choice to make everything again for each of its readers.
struct Pieces {
  net::TrainingStep step = test::step_in_pieces(4);
  CostModel costs = estimate_costs(step.graph, find_device_rates("v100"));
  PlanRequest request{&step.graph,
                      std::vector<std::int64_t>(step.graph.nodes().size()),
                      {unlimited, unlimited, 0},
                      {step.loss},
                      &costs};

  Pieces() = default;
  Pieces(const Pieces&) = delete;

  static Decisions everything_again(const GraphFacts& facts) {
    Decisions choice = keep_everything(facts);
    repeat_in_chains(facts, {64, true, 0, 0}, choice);
    choice.alone.assign(choice.alone.size(), true);
    return choice;
  }
};

TEST(Passes, AreThoseOfStepsInPieces) {
  const Pieces pieces;
  const GraphFacts facts(pieces.request);
  EXPECT_GT(facts.passes, 10u) << "two for every norm of the finest level, there and back";
  EXPECT_TRUE(std::is_sorted(facts.pass.begin(), facts.pass.end()));
  EXPECT_EQ(facts.pass.front(), 0);
  EXPECT_EQ(index(facts.pass.back()), facts.passes - 1);
  const Chain whole;
  const PlanRequest request = whole.request(4, unlimited);
  EXPECT_EQ(GraphFacts(request).passes, 1u);
}

TEST(Passes, AreBridgedByWhatIsHeld) {
  const Pieces pieces;
  const GraphFacts facts(pieces.request);
  Decisions choice = Pieces::everything_again(facts);
  const std::optional<Sequence> dropped = expand(facts, choice);
  ASSERT_TRUE(dropped);
  const auto pass_of = [](const Sequence& sequence, std::int32_t step) {
    return index(sequence.steps[index(step)].pass);
  };
  std::vector<const Life*> before(facts.values.size(), nullptr);
  int bridged = 0, shorter = 0;
  for (const Life& life : dropped->lives) {
    const Life* previous = std::exchange(before[index(life.value)], &life);
    if (life.gap == net::none || previous == nullptr) continue;
    const std::size_t from = pass_of(*dropped, previous->last), to = pass_of(*dropped, life.made);
    if (from == to) continue;
    Decisions held = choice;
    for (std::size_t pass = from; pass < to; ++pass)
      held.held[index(life.value) * facts.passes + pass] = true;
    const std::optional<Sequence> without = expand(facts, held);
    ASSERT_TRUE(without);
    EXPECT_LE(without->steps.size(), dropped->steps.size());
    shorter += without->steps.size() < dropped->steps.size();
    for (const Life& other : without->lives)
      EXPECT_FALSE(other.value == life.value && other.gap == life.gap && pass_of(*without, other.made) == to);
    if (++bridged == 20) break;
  }
  EXPECT_EQ(bridged, 20);
  EXPECT_GT(shorter, 10) << "but for what is made for a later use then";
}

TEST(Passes, AreBridgedWhereThereIsRoom) {
  Pieces pieces;
  const GraphFacts all(pieces.request);
  const Decisions again = Pieces::everything_again(all);
  const Schedule dropped = schedule_of(all, again);
  const std::vector<std::int64_t> memory = memory_of(all, dropped.sequence);
  const std::int64_t least = *std::max_element(memory.begin(), memory.end());
  std::ptrdiff_t before = runs_again(dropped);
  for (const std::int64_t more : {0, 1, 4, 16}) {
    pieces.request.budgets.device = least + more * least / 16;
    const GraphFacts facts(pieces.request);
    const Decisions choice =
        hold_in_spare_memory(facts, schedule_of(facts, again), again, pieces.request.budgets.device);
    const Schedule held = schedule_of(facts, choice);
    EXPECT_EQ(choice.again, again.again);
    EXPECT_LE(runs_again(held), before) << more;
    before = runs_again(held);
  }
  EXPECT_LT(before, runs_again(dropped) / 2);
}

TEST(Schedule, OfWhatTakesTooLongIsNotWorkedOut) {
  const Chain chain;
  const PlanRequest request = chain.request(4, 100 * chain.bytes);
  const GraphFacts facts(request);
  const Decisions nothing = keep_everything(facts);
  ScheduleOptions options;
  options.device_budget = request.budgets.device;
  options.most_seconds = 8 * second;  // there are nine nodes
  EXPECT_GT(schedule(facts, *expand(facts, nothing), nothing.bias, options).excess, 0);
  options.most_seconds = 100 * second;
  EXPECT_EQ(schedule(facts, *expand(facts, nothing), nothing.bias, options).excess, 0);
}

}  // namespace
}  // namespace voxswap::swap
