// Invalid plans are rejected. An adversary (adversary.h) executes plans in many possible orders of the
// streams; verify() must reject every plan that it can break.
#include "swap/verify/verify.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <limits>

#include "base/shape.h"
#include "net/steps/step.h"
#include "swap/planners/planner.h"
#include "tests/swap/adversary.h"
#include "tests/swap/mutations.h"
#include "tests/swap/runs.h"

namespace voxswap::swap {
namespace {

using test::Adversary;
using test::Mutation;
using test::plan_variants;
using test::PlanVariant;
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

Planned planned(std::uint64_t seed, int nodes, const PlanVariant& variant = plan_variants()[0]) {
  Planned result{test::random_step(seed, nodes, test::volume_of(variant)), {}, {}};
  const Philox random(seed, 3);
  for (std::size_t i = 0; i < result.step.graph.nodes().size(); ++i)
    result.workspaces.push_back(random.word(i) % 3 == 0 ? 100 + random.word(i) % 500 : 0);
  result.plan = test::plan_by(variant.options, result.step.graph, result.workspaces, result.step.kept);
  return result;
}

Adversary adversary(const Planned& p) {
  return Adversary(p.step.graph, p.workspaces, p.plan);
}
std::vector<std::string> violations(const Planned& p) {
  return verify(p.step.graph, p.workspaces, p.plan);
}

TEST(Verify, FindsNothingInGoodPlans) {
  for (const PlanVariant& variant : plan_variants())
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      const Planned p = planned(seed, 3 + static_cast<int>(seed % 20), variant);
      EXPECT_EQ(violations(p), std::vector<std::string>()) << variant.name << ", seed " << seed;
    }
}

TEST(Verify, GoodPlansSurviveEveryOrderThatTheAdversaryTries) {
  for (const PlanVariant& variant : plan_variants())
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      const Planned p = planned(seed, 3 + 2 * static_cast<int>(seed), variant);
      EXPECT_TRUE(adversary(p).survives_everything(seed)) << variant.name << ", seed " << seed;
    }
}

// Planners and the adversary are independent.
TEST(Verify, PlansOfEveryPlannerSurviveTheAdversaryWithinTightBudgets) {
  int tried = 0, moving = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Planned p = planned(seed, 20);
    const CostModel costs = estimate_costs(p.step.graph, find_device_rates("v100"));
    const Plan keep = p.plan;
    for (const std::string& planner : planner_names())
      for (const std::int64_t percent : {98, 90, 80}) {
        const std::int64_t budget = keep.peak_bytes * percent / 100;
        const StepProblem problem = {.graph = &p.step.graph,
                                     .workspaces = p.workspaces,
                                     .budgets = {budget, 1 << 20, seed % 2 == 0 ? 1 << 20 : 0},
                                     .kept = p.step.kept,
                                     .costs = &costs,
                                     .lms_threshold = 128};
        const std::optional<Plan> found = test::plan_that_fits(planner, problem, /*quick=*/true);
        if (!found) continue;
        p.plan = *found;
        ++tried;
        moving += p.plan.instructions.size() > p.step.graph.nodes().size() ? 1 : 0;
        EXPECT_EQ(violations(p), std::vector<std::string>()) << planner << ", seed " << seed;
        EXPECT_TRUE(adversary(p).survives_everything(seed)) << planner << ", seed " << seed;
        const Bound bound = lower_bound(p.step.graph, p.workspaces, p.step.kept, costs, problem.budgets);
        EXPECT_GE(found->predicted_seconds, bound.seconds * (1 - 1e-9)) << planner << ", seed " << seed;
      }
  }
  EXPECT_GT(tried, 150);
  EXPECT_GT(moving, 150);
}

// Every plan that verify() accepts survives the adversary. Harmless mutants may be accepted or rejected.
TEST(Verify, LetsNoMutantThroughThatTheAdversaryCanBreak) {
  constexpr std::uint64_t seeds = 30;  // per mutation and kind of plan
  int all = 0, all_rejected = 0;
  for (const Mutation& mutation : test::mutations()) {
    int mutants = 0, rejected = 0, harmful = 0;
    for (std::size_t w = 0; w < plan_variants().size(); ++w)
      for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        Planned p = planned(seed % 10, 6 + static_cast<int>(seed % 7), plan_variants()[w]);
        const Plan good = p.plan;
        const Philox random(seed, 4, static_cast<std::uint32_t>(w));
        std::uint64_t at = 0;
        test::apply(mutation, p.step.graph, p.plan,
                    [&](std::size_t below) { return random.word(at++) % below; });
        if (p.plan.instructions == good.instructions && same_places(p.plan, good)) continue;
        ++mutants;
        if (violations(p).empty()) {
          EXPECT_TRUE(adversary(p).survives_everything(seed))
              << mutation.name << ", " << plan_variants()[w].name << ", seed " << seed;
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

// All mutations, one by one.
TEST(Verify, KnowsOfEveryWaitWhetherItCanBeLeftOut) {
  int waits = 0, needed = 0;
  for (const PlanVariant& variant : plan_variants())
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      Planned p = planned(seed, 6, variant);
      for (Instruction& instruction : p.plan.instructions)
        for (std::size_t k = 0; k < instruction.waits.size(); ++k) {
          const std::vector<std::int32_t> before = instruction.waits;
          instruction.waits.erase(instruction.waits.begin() + static_cast<std::ptrdiff_t>(k));
          ++waits;
          if (!violations(p).empty())
            ++needed;
          else
            EXPECT_TRUE(adversary(p).survives_everything(seed))
                << variant.name << ", seed " << seed << ", wait for " << before[k];
          instruction.waits = before;
        }
    }
  std::printf("%d of %d waits are needed\n", needed, waits);
  EXPECT_GT(needed, waits / 4);
}

// The other tests each break a single property.
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
      r.offset = 0;  // overlaps the first parameter, which is always live
      EXPECT_TRUE(mentions(violations(p), "the workspace of")) << "seed " << seed;
      ++tried;
      break;
    }
  }
  EXPECT_GT(tried, 90);
}

Instruction& first_of(Plan& plan, Instruction::Kind kind) {
  return *std::find_if(plan.instructions.begin(), plan.instructions.end(),
                       [&](const Instruction& i) { return i.kind == kind; });
}
void wait_for_own_stream(Plan& plan) {
  const auto last = static_cast<std::int32_t>(plan.instructions.size()) - 1;
  for (std::int32_t i = last - 1; i >= 0; --i)
    if (plan.instructions[index(i)].lane() == plan.instructions[index(last)].lane())
      return plan.instructions[index(last)].waits.push_back(i);
}

TEST(Verify, NamesWhatIsWrong) {
  struct Row {
    const char* what;
    bool swaps;
    std::function<void(Planned&)> act;
    const char* says;
    bool on_disk = false;
  };
  const std::vector<Row> rows = {
      {"a host budget exceeded", true, [](Planned& p) { p.plan.host_budget_bytes -= 1; }, "the host pool of",
       true},
      {"a disk budget exceeded", true, [](Planned& p) { p.plan.disk_budget_bytes = 0; },
       "the scratch file of", true},
      {"a misaligned place", false, [](Planned& p) { p.plan.residencies.back().offset += 4; },
       "not a multiple of 64"},
      {"a place whose end overflows", false,
       [](Planned& p) { p.plan.residencies.back().bytes = std::numeric_limits<std::int64_t>::max(); },
       "outside the arena"},
      {"a budget exceeded by one byte", false,
       [](Planned& p) { p.plan.budget_bytes = p.plan.peak_bytes - 1; }, "exceeds the budget"},
      {"a node that does not exist", false, [](Planned& p) { p.plan.instructions.front().node = 1000; },
       "does not exist"},
      {"a value that does not exist", false, [](Planned& p) { p.plan.residencies.front().value = 1000; },
       "which do not exist"},
      {"persistent values elsewhere", false,
       [](Planned& p) {
         for (Residency& r : p.plan.residencies) r.offset += 64;
         p.plan.peak_bytes += 64;
       },
       "instead of"},
      {"a wrong sum", false, [](Planned& p) { p.plan.live_bytes.front() += 64; }, "sums of the allocations"},
      {"a wrong largest sum", false, [](Planned& p) { p.plan.live_peak_bytes += 64; }, "largest live sum"},
      {"a wait for what comes later", true, [](Planned& p) { p.plan.instructions[1].waits.push_back(2); },
       "instruction 1 waits for instruction 2, which does not come before it"},
      {"a wait for the own stream", true, [](Planned& p) { wait_for_own_stream(p.plan); },
       "of its own stream"},
      {"a persistent value that is moved", true,
       [](Planned& p) {
         Instruction& copy = first_of(p.plan, Instruction::Kind::copy_out);
         copy.value = p.step.graph.with_role(net::Role::parameter).front();
         copy.begin = 0;
         copy.bytes = 16;
       },
       "persistent values must stay"},
      {"nobody waits for whom", true,
       [](Planned& p) {
         for (Instruction& instruction : p.plan.instructions) instruction.waits.clear();
       },
       "without waiting until instruction"},
      {"nor for what", true,
       [](Planned& p) {
         for (Instruction& instruction : p.plan.instructions) instruction.waits.clear();
       },
       "has written it to bytes 0 to 48 of the host pool"}};
  for (const Row& row : rows)
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      Planned p = planned(seed, row.swaps ? 8 : 10, plan_variants()[row.on_disk ? 5 : row.swaps ? 1 : 0]);
      p.plan.budget_bytes = p.plan.peak_bytes;
      ASSERT_TRUE(violations(p).empty());
      row.act(p);
      EXPECT_TRUE(mentions(violations(p), row.says)) << row.what << ", seed " << seed;
    }
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
  // Runs the node a second time, at the end.
  void recompute(net::NodeId node) {
    Instruction instruction;
    instruction.node = node;
    instruction.recomputed = true;
    plan.instructions.push_back(instruction);
    for (Residency& r : plan.residencies)
      if (graph.value(r.value).persistent() || r.value == x || r.value == y || r.value == sum) r.last = 3;
    test::mutate::renew_sums(plan);
  }
};

TEST(Verify, CatchesRunsThatReadAnUpdatedParameterUpdateTwiceOrSayWronglyWhetherTheyAreTheFirst) {
  struct Row {
    const char* what;
    std::function<void(Updated&)> act;
    const char* says;  // empty: valid
  };
  for (const Row& row : std::vector<Row>{
           {"nothing", [](Updated&) {}, nullptr},
           {"the sum, which depends on no parameter, again", [](Updated& u) { u.recompute(0); }, nullptr},
           {"the update before the convolution",
            [](Updated& u) { std::swap(u.plan.instructions[1], u.plan.instructions[2]); },
            "after 1 updates instead of 0"},
           {"the convolution again", [](Updated& u) { u.recompute(1); }, "after 1 updates instead of 0"},
           {"the update again", [](Updated& u) { u.recompute(u.update); }, "would update its values twice"},
           {"a first run that says it is none", [](Updated& u) { u.plan.instructions[0].recomputed = true; },
            "did not run before"},
           {"a second run that does not say so",
            [](Updated& u) {
              u.recompute(0);
              u.plan.instructions.back().recomputed = false;
            },
            "not marked as a recomputation"}}) {
    Updated updated;
    row.act(updated);
    if (row.says == nullptr)
      EXPECT_EQ(updated.violations(), std::vector<std::string>()) << row.what;
    else
      EXPECT_TRUE(mentions(updated.violations(), row.says)) << row.what;
  }
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
