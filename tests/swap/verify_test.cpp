// A plan that is broken is refused. The judge is an adversary (adversary.h) that tries orders in which the
// streams might get on: whatever it can break, verify() must have refused.
#include "swap/verify/verify.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <optional>

#include "base/error.h"
#include "net/steps/step.h"
#include "swap/planners/planner.h"
#include "tests/swap/adversary.h"
#include "tests/swap/graphs.h"
#include "tests/swap/mutations.h"
#include "tests/swap/swapped_plan.h"

namespace voxswap::swap {
namespace {

using test::Adversary;
using test::Mutation;
using test::SmallStep;

bool same_places(const Plan& a, const Plan& b) {
  const auto same = [](const Residency& x, const Residency& y) {
    return x.value == y.value && x.node == y.node && x.offset == y.offset && x.bytes == y.bytes &&
           x.first == y.first && x.last == y.last;
  };
  return std::equal(a.residencies.begin(), a.residencies.end(), b.residencies.begin(), b.residencies.end(),
                    same) &&
         a.kept == b.kept && a.streamed == b.streamed && a.streamed_bytes == b.streamed_bytes &&
         a.peak_bytes == b.peak_bytes && a.host_bytes == b.host_bytes && a.disk_bytes == b.disk_bytes;
}

struct Planned {
  SmallStep step;
  std::vector<std::int64_t> workspaces;
  Plan plan;
};

struct Way {  // to plan
  const char* name;
  std::optional<test::SwapOptions> options;  // none: keep
  bool large = false;                        // values of two disk accesses, the second of less than a block
};
const std::vector<Way>& ways() {
  using test::SwapOptions;
  static const std::vector<Way> list = {
      {"keep", std::nullopt},
      {"host", SwapOptions{.chunk = 48}},
      {"host, whole values, apart", SwapOptions{.in_place = false}},
      {"host, copies given up", SwapOptions{.copies_stay = false, .chunk = 64}},
      {"disk", SwapOptions{.host = false, .disk = true}, true},
      {"host and disk, little values", SwapOptions{.disk = true}},
      {"host and disk, copies given up", SwapOptions{.disk = true, .copies_stay = false}, true},
      {"streams", SwapOptions{.streams = true, .chunk = 48}},
      {"streams, host and disk", SwapOptions{.disk = true, .streams = true, .copies_stay = false}, true},
      {"streams and recomputation", SwapOptions{.recompute = true, .streams = true, .chunk = 64}},
      {"recomputation", SwapOptions{.host = false, .recompute = true}},
      {"host and recomputation", SwapOptions{.recompute = true, .chunk = 48}},
      {"host, disk and recomputation", SwapOptions{.disk = true, .recompute = true}, true},
  };
  return list;
}

Planned planned(std::uint64_t seed, int nodes, const Way& way = ways()[0]) {
  Planned result{
      test::random_step(seed, nodes, way.large ? Shape{1, 8, 8, 5, 4} : Shape{1, 2, 2, 2, 4}), {}, {}};
  const Philox random(seed, 3);
  for (std::size_t i = 0; i < result.step.graph.nodes().size(); ++i)
    result.workspaces.push_back(random.word(i) % 3 == 0 ? 100 + random.word(i) % 500 : 0);
  if (way.options)
    result.plan = test::swap_everything(result.step.graph, result.workspaces, result.step.kept, *way.options);
  else
    result.plan = make_plan("keep", {&result.step.graph, result.workspaces, {}, result.step.kept});
  return result;
}

Adversary adversary(const Planned& p) {
  return Adversary(p.step.graph, p.workspaces, p.plan);
}
std::vector<std::string> violations(const Planned& p) {
  return verify(p.step.graph, p.workspaces, p.plan);
}

TEST(Verify, FindsNothingInGoodPlans) {
  for (const Way& way : ways())
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      const Planned p = planned(seed, 3 + static_cast<int>(seed % 20), way);
      EXPECT_EQ(violations(p), std::vector<std::string>()) << way.name << ", seed " << seed;
    }
}

TEST(Verify, GoodPlansSurviveEveryOrderThatTheAdversaryTries) {
  for (const Way& way : ways())
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      const Planned p = planned(seed, 3 + 2 * static_cast<int>(seed), way);
      EXPECT_TRUE(adversary(p).survives_everything(seed)) << way.name << ", seed " << seed;
    }
}

// Neither knows of the other: a planner and the adversary.
TEST(Verify, PlansOfEveryPlannerSurviveTheAdversaryWithinTightBudgets) {
  int tried = 0, moving = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Planned p = planned(seed, 20);
    const CostModel costs = estimate_costs(p.step.graph, find_device_rates("v100"));
    const Plan keep = p.plan;
    for (const std::string& planner : planner_names())
      for (const std::int64_t percent : {98, 90, 80}) {
        const std::int64_t budget = keep.peak_bytes * percent / 100;
        try {
          p.plan = make_plan(planner, {.graph = &p.step.graph,
                                       .workspaces = p.workspaces,
                                       .budgets = {budget, 1 << 20, seed % 2 == 0 ? 1 << 20 : 0},
                                       .kept = p.step.kept,
                                       .costs = &costs,
                                       .lms_threshold = 128,
                                       .quick = true});
        } catch (const Error&) {
          continue;  // does not fit
        }
        ++tried;
        moving += p.plan.instructions.size() > p.step.graph.nodes().size() ? 1 : 0;
        EXPECT_EQ(violations(p), std::vector<std::string>()) << planner << ", seed " << seed;
        EXPECT_TRUE(adversary(p).survives_everything(seed)) << planner << ", seed " << seed;
      }
  }
  EXPECT_GT(tried, 150);
  EXPECT_GT(moving, 150);
}

// What verify() accepts survives the adversary. Mutants that do no harm may be accepted or not.
TEST(Verify, LetsNoMutantThroughThatTheAdversaryCanBreak) {
  constexpr std::uint64_t seeds = 30;  // per mutation and way
  int all = 0, all_rejected = 0;
  for (const Mutation& mutation : test::mutations()) {
    int mutants = 0, rejected = 0, harmful = 0;
    for (std::size_t w = 0; w < ways().size(); ++w)
      for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        Planned p = planned(seed % 10, 6 + static_cast<int>(seed % 7), ways()[w]);
        const Plan good = p.plan;
        const Philox random(seed, 4, static_cast<std::uint32_t>(w));
        std::uint64_t at = 0;
        test::apply(mutation, p.step.graph, p.plan,
                    [&](std::size_t below) { return random.word(at++) % below; });
        if (p.plan.instructions == good.instructions && same_places(p.plan, good)) continue;
        ++mutants;
        if (violations(p).empty()) {
          EXPECT_TRUE(adversary(p).survives_everything(seed))
              << mutation.name << ", " << ways()[w].name << ", seed " << seed;
          continue;
        }
        ++rejected;
        Adversary judge = adversary(p);
        harmful += judge.survives_list() && judge.survives_random_orders(seed, 5) ? 0 : 1;
      }
    std::printf("%-50s %4d mutants, %4d rejected, %4d of them harmful in 6 orders\n", mutation.name, mutants,
                rejected, harmful);
    EXPECT_GE(rejected, mutants / 5) << mutation.name << " hardly ever breaks anything";
    all += mutants;
    all_rejected += rejected;
  }
  std::printf("%-50s %4d mutants, %4d rejected\n", "together", all, all_rejected);
}

// One by one, all of them.
TEST(Verify, KnowsOfEveryWaitWhetherItCanBeLeftOut) {
  int waits = 0, needed = 0;
  for (const Way& way : ways())
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      Planned p = planned(seed, 6, way);
      for (Instruction& instruction : p.plan.instructions)
        for (std::size_t k = 0; k < instruction.waits.size(); ++k) {
          const std::vector<std::int32_t> before = instruction.waits;
          instruction.waits.erase(instruction.waits.begin() + static_cast<std::ptrdiff_t>(k));
          ++waits;
          if (!violations(p).empty())
            ++needed;
          else
            EXPECT_TRUE(adversary(p).survives_everything(seed))
                << way.name << ", seed " << seed << ", wait for " << before[k];
          instruction.waits = before;
        }
    }
  std::printf("%d of %d waits are needed\n", needed, waits);
  EXPECT_GT(needed, waits / 4);
}

// The rest are single facts, each broken on purpose.
bool mentions(const std::vector<std::string>& list, const std::string& words) {
  for (const std::string& text : list)
    if (text.find(words) != std::string::npos) return true;
  return false;
}

TEST(Verify, CatchesAWorkspaceThatOverlapsAValue) {
  int tried = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Planned p = planned(seed, 20);
    for (Residency& r : p.plan.residencies) {
      if (r.value != net::none) continue;
      r.offset = 0;  // over the first parameter, which is always live
      EXPECT_TRUE(mentions(violations(p), "the workspace of")) << "seed " << seed;
      ++tried;
      break;
    }
  }
  EXPECT_GT(tried, 90);
}

TEST(Verify, CatchesAMisalignedPlace) {
  Planned p = planned(1, 10);
  p.plan.residencies.back().offset += 4;
  EXPECT_TRUE(mentions(violations(p), "not a multiple of 64"));
}

TEST(Verify, CatchesAPlaceOutsideTheArenaEvenWhenItsEndOverflows) {
  Planned p = planned(1, 10);
  p.plan.residencies.back().bytes = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE(mentions(violations(p), "outside the arena"));
}

TEST(Verify, CatchesABudgetExceededByOneByte) {
  Planned p = planned(2, 10);
  p.plan.budget_bytes = p.plan.peak_bytes;
  EXPECT_TRUE(violations(p).empty());
  p.plan.budget_bytes -= 1;
  EXPECT_TRUE(mentions(violations(p), "exceeds the budget"));
}

TEST(Verify, CatchesNodesAndValuesThatDoNotExist) {
  Planned p = planned(3, 10);
  p.plan.instructions.front().node = 1000;
  EXPECT_TRUE(mentions(violations(p), "does not exist"));
  p = planned(3, 10);
  p.plan.residencies.front().value = 1000;
  EXPECT_TRUE(mentions(violations(p), "which do not exist"));
}

TEST(Verify, CatchesPersistentValuesThatAreElsewhere) {
  Planned p = planned(4, 10);
  for (Residency& r : p.plan.residencies) r.offset += 64;
  p.plan.peak_bytes += 64;
  EXPECT_TRUE(mentions(violations(p), "instead of"));
}

TEST(Verify, CatchesSumsThatAreWrong) {
  Planned p = planned(5, 10);
  p.plan.live_bytes.front() += 64;
  EXPECT_TRUE(mentions(violations(p), "sums of the allocations"));
  p = planned(5, 10);
  p.plan.live_peak_bytes += 64;
  EXPECT_TRUE(mentions(violations(p), "largest live sum"));
}

// A convolution, and an update of its bias.
struct Updated {
  net::Graph graph;
  Shape volume = {1, 2, 2, 2, 4};
  net::ValueId p = graph.add_value("p", {4}, net::ElementType::f32, net::Role::parameter);
  net::ValueId m = graph.add_value("m", {4}, net::ElementType::f32, net::Role::optimizer_state);
  net::ValueId v = graph.add_value("v", {4}, net::ElementType::f32, net::Role::optimizer_state);
  net::ValueId w = graph.add_value("w", {4, 4, 1, 1, 1}, net::ElementType::f32, net::Role::parameter);
  net::ValueId x = graph.add_value("x", volume, net::ElementType::f32, net::Role::input);
  net::ValueId sum = graph.apply("channel_sum", "sum", {x});
  net::ValueId y = graph.apply("conv3d", "conv", {x, w, p}, {{"stride", 1}, {"padding", 0}});
  net::NodeId update =
      graph.add("adam", "update", {sum},
                {{"beta1", 0.9}, {"beta2", 0.999}, {"epsilon", 1e-7}, {"weight_decay", 0}}, {p, m, v});
  std::vector<std::int64_t> workspaces = {0, 0, 0};
  Plan plan = make_plan("keep", {&graph, workspaces, {}, {y}});

  std::vector<std::string> violations() const { return verify(graph, workspaces, plan); }
  // The node once more, at the end.
  void run_again(net::NodeId node) {
    Instruction again;
    again.node = node;
    again.again = true;
    plan.instructions.push_back(again);
    for (Residency& r : plan.residencies)
      if (graph.value(r.value).persistent() || r.value == x || r.value == y || r.value == sum) r.last = 3;
    test::mutate::renew_sums(plan);
  }
};

TEST(Verify, CatchesAParameterReadAfterItsUpdateInsteadOfBefore) {
  Updated updated;
  ASSERT_EQ(updated.violations(), std::vector<std::string>());
  std::swap(updated.plan.instructions[1], updated.plan.instructions[2]);
  EXPECT_TRUE(mentions(updated.violations(), "after 1 updates instead of 0"));
}

TEST(Verify, CatchesANodeThatRunsAgainAfterItsParameterWasUpdated) {
  Updated updated;
  updated.run_again(0);
  EXPECT_EQ(updated.violations(), std::vector<std::string>()) << "the sum depends on no parameter";
  updated = Updated();
  updated.run_again(1);
  EXPECT_TRUE(mentions(updated.violations(), "after 1 updates instead of 0"));
}

TEST(Verify, CatchesAnUpdateThatRunsTwice) {
  Updated updated;
  updated.run_again(updated.update);
  EXPECT_TRUE(mentions(updated.violations(), "would update its values twice"));
}

TEST(Verify, CatchesRunsThatSayWronglyWhetherTheyAreTheFirst) {
  Updated updated;
  updated.plan.instructions[0].again = true;
  EXPECT_TRUE(mentions(updated.violations(), "did not run before"));
  updated = Updated();
  updated.run_again(0);
  updated.plan.instructions.back().again = false;
  EXPECT_TRUE(mentions(updated.violations(), "not marked as a recomputation"));
}

Planned swapped(std::uint64_t seed) {
  return planned(seed, 8, ways()[1]);
}
Instruction& first_of(Plan& plan, Instruction::Kind kind) {
  return *std::find_if(plan.instructions.begin(), plan.instructions.end(),
                       [&](const Instruction& i) { return i.kind == kind; });
}

TEST(Verify, CatchesWaitsForLaterInstructionsAndForTheOwnStream) {
  Planned p = swapped(1);
  p.plan.instructions[1].waits.push_back(2);
  EXPECT_TRUE(
      mentions(violations(p), "instruction 1 waits for instruction 2, which does not come before it"));
  p = swapped(1);
  const auto end = static_cast<std::int32_t>(p.plan.instructions.size());
  for (std::int32_t i = end - 1, last = end - 1; i >= 0; --i)
    if (i != last && p.plan.instructions[static_cast<std::size_t>(i)].lane() ==
                         p.plan.instructions[static_cast<std::size_t>(last)].lane()) {
      p.plan.instructions[static_cast<std::size_t>(last)].waits.push_back(i);
      break;
    }
  EXPECT_TRUE(mentions(violations(p), "of its own stream"));
}

TEST(Verify, CatchesAPersistentValueThatIsMoved) {
  Planned p = swapped(2);
  Instruction& copy = first_of(p.plan, Instruction::Kind::copy_out);
  copy.value = p.step.graph.with_role(net::Role::parameter).front();
  copy.begin = 0;
  copy.bytes = 16;
  EXPECT_TRUE(mentions(violations(p), "persistent values must stay"));
}

TEST(Verify, SaysWhoDoesNotWaitForWhom) {
  Planned p = swapped(3);
  for (Instruction& instruction : p.plan.instructions) instruction.waits.clear();
  EXPECT_TRUE(mentions(violations(p), "without waiting until instruction"));
  EXPECT_TRUE(mentions(violations(p), "has written it to bytes 0 to 48 of the host pool"));
}

TEST(Verify, CatchesHostAndDiskBudgetsExceeded) {
  Planned p = planned(3, 12, {"", test::SwapOptions{.disk = true}});
  ASSERT_TRUE(violations(p).empty());
  p.plan.host_budget_bytes -= 1;
  EXPECT_TRUE(mentions(violations(p), "the host pool of"));
  p.plan.host_budget_bytes += 1;
  p.plan.disk_budget_bytes = 0;
  EXPECT_TRUE(mentions(violations(p), "the scratch file of"));
}

TEST(Verify, TakesWellUnderASecondForThousandsOfInstructions) {
  net::StepOptions options;
  options.input = {1, 96, 96, 96, 4};
  const net::TrainingStep step = net::build_training_step(options);
  const std::vector<std::int64_t> workspaces(step.graph.nodes().size(), 1 << 20);
  const Plan plan = test::swap_everything(step.graph, workspaces, {step.loss, step.logits[0]},
                                          {.disk = true, .recompute = true, .chunk = 1 << 20});
  ASSERT_GT(plan.instructions.size(), 6000u);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(verify(step.graph, workspaces, plan), std::vector<std::string>());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
}

}  // namespace
}  // namespace voxswap::swap
