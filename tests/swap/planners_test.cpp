// All planners on small graphs and networks: plans verify, stay within budgets, and show the property of each
// planner.
#include <gtest/gtest.h>

#include <csignal>
#include <limits>
#include <map>
#include <set>

#include "base/error.h"
#include "base/interrupt.h"
#include "net/graph/autodiff.h"
#include "net/steps/step.h"
#include "swap/model/simulator.h"
#include "swap/planners/layout.h"
#include "swap/planners/planner.h"
#include "swap/planners/scheduling.h"
#include "swap/verify/verify.h"
#include "tests/expect.h"
#include "tests/swap/graphs.h"

namespace voxswap::swap {
namespace {

constexpr std::int64_t plenty = std::int64_t{1} << 40;

// Rates for which computing and copying these small volumes take about the same time.
CostModel even_costs(const net::Graph& graph) {
  DeviceRates rates;
  rates.flops_f32 = rates.flops_half = 1e12;
  rates.memory_rate = 1e11;
  rates.launch_seconds = 1e-9;
  rates.link_rate = 1e10;
  CostModel costs = estimate_costs(graph, rates);
  costs.to_disk = costs.from_disk = {4e9, 4e9};
  return costs;
}

struct Case {
  net::TrainingStep step;
  std::vector<std::int64_t> workspaces;
  CostModel costs;

  explicit Case(const net::StepOptions& options)
      : step(net::build_training_step(options)),
        workspaces(step.graph.nodes().size(), 0),
        costs(even_costs(step.graph)) {
    for (std::size_t node = 0; node < workspaces.size(); node += 7) workspaces[node] = 4096;
  }
  StepProblem request(std::int64_t device, std::int64_t host = plenty, std::int64_t disk = 0) const {
    StepProblem result{&step.graph, workspaces, {device, host, disk}, {step.loss}, &costs};
    result.lms_threshold = 1024;
    return result;
  }
  void expect_good(const Plan& plan) const {
    const std::vector<std::string> violations = verify(step.graph, workspaces, plan);
    EXPECT_TRUE(violations.empty()) << plan.planner << ": " << violations.size()
                                    << ", first: " << violations.front();
  }
};

net::StepOptions network(const std::string& name, std::int64_t side, std::int64_t depth,
                         std::int64_t filters) {
  net::StepOptions options;
  options.network.name = name;
  options.network.depth = depth;
  options.network.base_filters = filters;
  options.input = {1, side, side, side, 2};
  return options;
}

// The step of a small network, and its peak memory.
struct SmallStep : testing::Test {
  const Case test{network("isensee2017", 16, 3, 4)};
  const std::int64_t most = make_plan("keep", test.request(unlimited)).peak_bytes;
};
using Hybrid = SmallStep;
using Tflms = SmallStep;
using LmsThreshold = SmallStep;
using Checkpoint = SmallStep;
using Planner = SmallStep;

class EveryPlanner : public testing::TestWithParam<std::string> {};
class EveryNetwork : public testing::TestWithParam<net::StepOptions> {};

TEST_P(EveryNetwork, GetsPlansWithoutViolationsWithinBudgetsDownToTheSmallestThatEachPlannerCanDo) {
  const Case test(GetParam());
  const std::int64_t most = make_plan("keep", test.request(unlimited)).peak_bytes;
  std::map<std::string, int> made;
  for (const double share : {1.0, 0.6, 0.4, 0.25, 0.15, 0.1}) {
    const auto budget = static_cast<std::int64_t>(static_cast<double>(most) * share);
    for (const auto& [host, disk] : {std::pair{plenty, std::int64_t{0}}, std::pair{most / 8, plenty}}) {
      const StepProblem problem = test.request(budget, host, disk);
      const Bound bound =
          lower_bound(test.step.graph, problem.workspaces, problem.kept, test.costs, problem.budgets);
      EXPECT_GT(bound.seconds, 0);
      for (const std::string& planner : planner_names()) {
        const std::optional<Plan> plan = test::plan_that_fits(planner, problem, /*quick=*/true);
        if (!plan) continue;
        test.expect_good(*plan);
        EXPECT_LE(plan->peak_bytes, budget);
        EXPECT_LE(plan->host_bytes, host);
        EXPECT_GE(plan->predicted_seconds, bound.seconds * (1 - 1e-9)) << planner << " " << share;
        ++made[planner];
      }
    }
  }
  for (const std::string& planner : planner_names()) EXPECT_GE(made[planner], 2) << planner;
}

INSTANTIATE_TEST_SUITE_P(Networks, EveryNetwork,
                         testing::Values(network("isensee2017", 16, 3, 4), network("unet3d", 16, 3, 4),
                                         network("resnet3d", 8, 6, 4)),
                         [](const auto& parameter) { return parameter.param.network.name; });

TEST_P(EveryPlanner, GivesTheSamePlanForTheSameRequest) {
  const Case test(network("isensee2017", 16, 3, 4));
  const std::int64_t budget = make_plan("keep", test.request(unlimited)).peak_bytes;
  const StepProblem request = test.request(GetParam() == "keep" ? budget : budget * 3 / 4);
  const Plan once = make_plan(GetParam(), request), repeated = make_plan(GetParam(), request);
  EXPECT_EQ(once.instructions, repeated.instructions);
  ASSERT_EQ(once.residencies.size(), repeated.residencies.size());
  for (std::size_t i = 0; i < once.residencies.size(); ++i)
    EXPECT_EQ(once.residencies[i].offset, repeated.residencies[i].offset);
}

INSTANTIATE_TEST_SUITE_P(Planners, EveryPlanner, testing::ValuesIn(planner_names()),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_F(Hybrid, FitsIntoWhatTheLargestNodeNeedsAndALittle) {
  const Floor floor = least_budget(test.step.graph, test.workspaces, {test.step.loss});
  const Plan plan = make_plan("hybrid", test.request(floor.bytes * 11 / 10));
  test.expect_good(plan);
}

// An addition of two values that are both needed later: if both have copies, the result overwrites one in
// place, and memory for two volumes is enough.
TEST_F(Hybrid, WritesOverAValueOfWhichACopyIsOutside) {
  net::Graph graph;
  const net::ValueId x = graph.add_value("x", Shape{1, 4, 4, 4, 4}, net::ElementType::f32, net::Role::input);
  graph.phase = net::Phase::backward;  // nothing is recomputed
  const net::ValueId a = graph.apply("sigmoid", "a", {x});
  const net::ValueId b = graph.apply("leaky_relu", "b", {x}, {{"slope", 0.5}});
  const net::ValueId sum = graph.apply("add", "sum", {a, b});
  const net::ValueId c = graph.apply("sigmoid", "c", {sum});
  const net::ValueId d = graph.apply("add", "d", {c, a});
  const net::ValueId e = graph.apply("add", "e", {d, b});
  const std::vector<std::int64_t> workspaces(graph.nodes().size(), 0);
  const CostModel costs = even_costs(graph);
  const std::int64_t bytes = graph.value(x).bytes();
  const Plan plan = make_plan("hybrid", {&graph, workspaces, {2 * bytes, plenty, 0}, {e}, &costs});
  EXPECT_EQ(verify(graph, workspaces, plan), std::vector<std::string>());
  EXPECT_EQ(plan.peak_bytes, 2 * bytes);
  EXPECT_GE(test::written_over_while_away(plan), 1);
}

TEST_F(Hybrid, StopsItsSearchWhenTheUserAsksForIt) {
  const Floor floor = least_budget(test.step.graph, test.workspaces, {test.step.loss});
  const InterruptScope scope;
  ::raise(SIGINT);
  test::expect_failure([&] { make_plan("hybrid", test.request(floor.bytes * 11 / 10)); }, Exit::interrupted,
                       {"interrupted"});
}

TEST_F(Hybrid, KeepsEverythingWhereEverythingFits) {
  const Plan keep = make_plan("keep", test.request(unlimited));
  const Plan hybrid = make_plan("hybrid", test.request(keep.peak_bytes));
  EXPECT_EQ(hybrid.instructions, keep.instructions);
}

// Up to the 0.1 % above the bound at which the search ends.
TEST_F(Hybrid, IsNeverSlowerThanTheOtherPlanners) {
  for (const auto& [name, share] : {std::pair{"isensee2017", 0.5}, {"unet3d", 0.8}}) {
    const Case of(network(name, 16, 3, 4));
    const auto peak = static_cast<double>(make_plan("keep", of.request(unlimited)).peak_bytes);
    const StepProblem request = of.request(static_cast<std::int64_t>(peak * share));
    const std::optional<Plan> hybrid = test::plan_that_fits("hybrid", request);
    for (const std::string& other : planner_names()) {
      if (other == "hybrid") continue;
      const std::optional<Plan> rival = test::plan_that_fits(other, request);
      if (!rival) continue;
      ASSERT_TRUE(hybrid) << other << " " << share;
      EXPECT_LE(hybrid->predicted_seconds, rival->predicted_seconds * 1.001) << other << " " << share;
    }
  }
}

// A chain of convolutions with its backward pass, with few enough gaps for an exhaustive search.
struct Chain {
  net::Graph graph;
  net::ValueId loss = net::none;
  std::vector<std::int64_t> workspaces;
  CostModel costs;

  Chain(int length, std::uint64_t seed) {
    const Philox random(seed, 3);
    std::vector<net::ValueId> weights;
    const net::ValueId x = graph.add_value("x", {1, 8, 8, 8, 4}, net::ElementType::f32, net::Role::input);
    net::ValueId y = x;
    for (int i = 0; i < length; ++i) {
      const std::int64_t in = graph.value(y).shape[4],
                         out = 4 << random.word(static_cast<std::uint64_t>(i)) % 3;
      weights.push_back(graph.add_value("w" + std::to_string(i), {out, in, 3, 3, 3}, net::ElementType::f32,
                                        net::Role::parameter));
      y = graph.apply("conv3d", "c" + std::to_string(i), {y, weights.back()},
                      {{"stride", 1}, {"padding", 1}});
      if (i % 2 == 0) y = graph.apply("sigmoid", "s" + std::to_string(i), {y});
    }
    graph.phase = net::Phase::backward;
    const net::ValueId seed_gradient = graph.apply("sigmoid", "seed", {y});
    const std::vector<net::ValueId> gradients = net::differentiate(graph, {{y, seed_gradient}}, weights);
    loss = gradients.front();
    workspaces.assign(graph.nodes().size(), 0);
    costs = even_costs(graph);
    for (std::size_t i = 0; i < costs.node_seconds.size(); ++i)
      costs.node_seconds[i] *= 0.5 + random.uniform(100 + i);
  }
  StepProblem request(std::int64_t device) const {
    return {&graph, workspaces, {device, plenty, 0}, {loss}, &costs};
  }
};

// The best plan over all sets of recomputations and all sets of evictions.
double best_of_all(const StepProblem& request) {
  const GraphFacts facts(request);
  std::vector<GapId> flags;
  for (const ValueFacts& value : facts.values)
    for (std::size_t gap = 0; value.recomputable && gap <= value.readers.size(); ++gap)
      flags.push_back(value.first_gap + static_cast<GapId>(gap));
  std::set<std::vector<std::int32_t>> seen;  // different flags may give the same order
  double best = std::numeric_limits<double>::max();
  for (std::uint32_t recomputed = 0; recomputed < (1U << flags.size()); ++recomputed) {
    Decisions decisions = keep_everything(facts);
    for (std::size_t i = 0; i < flags.size(); ++i)
      if (recomputed >> i & 1U) decisions.recompute[static_cast<std::size_t>(flags[i])] = true;
    const std::optional<Sequence> sequence = expand(facts, decisions);
    if (!sequence) continue;
    std::vector<std::int32_t> order;
    double computing = 0;  // no schedule of these steps takes less
    for (const SequenceStep& step : sequence->steps) {
      order.push_back(step.node);
      computing += facts.nodes[static_cast<std::size_t>(step.node)].seconds;
    }
    if (computing >= best) continue;
    for (const LiveRange& live_range : sequence->live_ranges) order.push_back(live_range.last_use);
    if (!seen.insert(order).second) continue;
    const std::vector<Eviction> all = eviction_candidates(*sequence);
    for (std::uint32_t evicted = 0; evicted < (1U << all.size()); ++evicted) {
      Schedule schedule;
      schedule.sequence = *sequence;
      for (std::size_t i = 0; i < all.size(); ++i)
        if (evicted >> i & 1U) schedule.evictions.push_back(all[i]);
      finish_schedule(facts, {.device_budget = request.budgets.device}, false, schedule);
      if (schedule.excess > 0 || schedule.seconds > 1.5 * best) continue;
      const Plan plan = lay_out(facts, schedule, "any");
      if (plan.peak_bytes <= request.budgets.device) best = std::min(best, plan.predicted_seconds);
    }
  }
  return best;
}

TEST_F(Hybrid, IsWithinAFewPerCentOfTheBestOfAllChoicesOnSmallGraphs) {
  double worst = 1, sum = 0;
  int count = 0;
  for (const std::uint64_t seed : {2, 6, 10}) {
    const Chain chain(3, seed);
    const std::int64_t most = make_plan("keep", chain.request(unlimited)).peak_bytes;
    const std::int64_t least = least_budget(chain.graph, chain.workspaces, {chain.loss}).bytes;
    for (const double share : {0.25, 0.5, 0.8}) {
      const std::int64_t budget =
          least + static_cast<std::int64_t>(static_cast<double>(most - least) * share) / 64 * 64;
      const double best = best_of_all(chain.request(budget));
      if (best == std::numeric_limits<double>::max()) continue;
      const Plan plan = make_plan("hybrid", chain.request(budget));
      const double ratio = plan.predicted_seconds / best;
      worst = std::max(worst, ratio);
      sum += ratio;
      ++count;
      const Bound bound = lower_bound(chain.graph, chain.workspaces, {chain.loss}, chain.costs,
                                      chain.request(budget).budgets);
      EXPECT_LE(bound.seconds, best * 1.000001) << "seed " << seed << " share " << share;
    }
  }
  ASSERT_GE(count, 8);
  RecordProperty("worst", std::to_string(worst));
  std::printf("hybrid against the best of all choices: mean %.4f, worst %.4f, %d cases\n", sum / count, worst,
              count);
  EXPECT_LE(worst, 1.10);
  EXPECT_LE(sum / count, 1.03);
}

TEST_F(Tflms, SwapsLessTheLargerItsThresholdAndSaysWhatItsTunerFound) {
  std::int64_t before = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t threshold : {0, 10, 40, 80}) {
    StepProblem request = test.request(most * 2);
    request.tflms = {threshold, 1, 0, 0};
    const Plan plan = make_plan("tflms", request);
    test.expect_good(plan);
    EXPECT_LE(totals(plan).out_bytes, before);
    before = totals(plan).out_bytes;
  }
  const Plan tuned = make_plan("tflms", test.request(most * 3 / 4));
  EXPECT_GT(totals(tuned).out_bytes, 0);
  EXPECT_TRUE(test::contains(tuned.remarks, "swapout_threshold"));
}

TEST_F(Tflms, TakesLongerTheMoreItsSyncModeWaits) {
  std::vector<double> seconds;
  for (const int mode : {0, 1, 2, 3}) {
    StepProblem request = test.request(most * 2);
    request.tflms = {20, 5, 0, mode};
    const Plan plan = make_plan("tflms", request);
    test.expect_good(plan);
    seconds.push_back(plan.predicted_seconds);
  }
  EXPECT_LT(seconds[0], seconds[1]);
  EXPECT_LT(seconds[0], seconds[2]);
  EXPECT_LT(seconds[1], seconds[3]);
  EXPECT_LT(seconds[2], seconds[3]);
}

TEST_F(LmsThreshold, SendsAwayWhatIsLargerThanItsThresholdAndNothingElse) {
  StepProblem request = test.request(unlimited);
  for (const std::int64_t threshold : {0, 10000, 100000}) {
    request.lms_threshold = threshold;
    const Plan plan = make_plan("lms-threshold", request);
    test.expect_good(plan);
    for (const Instruction& instruction : plan.instructions) {
      if (instruction.kind != Instruction::Kind::copy_out) continue;
      EXPECT_GT(test.step.graph.value(instruction.value).bytes(), threshold);
    }
  }
}

TEST_F(Checkpoint, MovesNothingAndRecomputesNodes) {
  const Plan plan = make_plan("checkpoint", test.request(most * 3 / 4));
  EXPECT_EQ(totals(plan).out_bytes, 0);
  EXPECT_GT(totals(plan).recomputed_nodes, 0);
  EXPECT_EQ(plan.host_bytes, 0);
}

TEST_F(Planner, SaysWhatIsNeededWhereAndWhatHelpsWhenTheBudgetIsTooSmall) {
  const Floor floor = least_budget(test.step.graph, test.workspaces, {test.step.loss});
  for (const std::string& planner : planner_names()) {
    SCOPED_TRACE(planner);
    test::expect_failure([&] { make_plan(planner, test.request(floor.bytes - 64)); }, Exit::does_not_fit,
                         {"memory.budget", planner, test.step.graph.node(floor.node).name,
                          "No planner can use less", "needs at least"});
  }
}

TEST_F(Planner, SaysThatHostOrDiskAreTooSmall) {
  test::expect_failure([&] { make_plan("lms-threshold", test.request(most, 4096)); }, Exit::does_not_fit,
                       {"memory.host"});
}

TEST_F(Planner, PlansADeepResidualNetworkTwentyTimesDeeperThanKeepAllowsInTheSameBudget) {
  const auto options = [](std::int64_t depth) { return network("resnet3d", 32, depth, 8); };
  const Case shallow(options(2));
  const std::int64_t budget = make_plan("keep", shallow.request(unlimited)).peak_bytes;
  const Case deep(options(40));
  EXPECT_THROW(make_plan("keep", deep.request(budget)), Error);
  const Plan plan = make_plan("hybrid", deep.request(budget), /*quick=*/true);
  deep.expect_good(plan);
}

}  // namespace
}  // namespace voxswap::swap
