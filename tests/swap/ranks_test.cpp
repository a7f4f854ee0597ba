// Steps of several ranks, which are threads here: identical to the bit to a step of one rank on the same
// batch, for any number of ranks, plan and slabs.
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/philox.h"
#include "net/backends/backends.h"
#include "net/collective/exchange.h"
#include "net/steps/step.h"
#include "swap/execute/executor.h"
#include "swap/model/costs.h"
#include "swap/model/simulator.h"
#include "swap/planners/planner.h"
#include "swap/planners/sequence.h"
#include "swap/verify/verify.h"
#include "tests/net/rank_threads.h"
#include "tests/net/run_graph.h"
#include "tests/swap/runs.h"

namespace voxswap::swap {
namespace {

using test::Results;

struct SharedCase {
  std::string backend = "reference";
  std::string network = "isensee2017";
  std::int64_t batch = 24;
  std::int64_t slabs = net::whole_volumes;
  bool swaps = false;
  net::ElementType type = net::ElementType::f32;
  bool batch_dice = false;
  std::int64_t sharers = 1;  // ranks that share each volume
  Shape side{};              // volume, D,H,W; empty: a small one

  // The same with `count` ranks per volume.
  SharedCase over(std::int64_t count) const {
    SharedCase other = *this;
    other.backend = "onednn";  // slabs do not change the rounding of sums there
    other.sharers = count;
    return other;
  }
};

// Runs one rank's part of a few steps; returns losses, then persistent values.
Results trained(net::Ranks& ranks, const SharedCase& of) {
  net::StepOptions options = test::tiny(of.network);
  if (of.network == "isensee2017") options.network.depth = 2;
  if (of.network == "resnet") options.network.depth = 15;
  const std::int64_t side = of.swaps ? 8 : 4, sharers = of.sharers;
  options.input = {1, side, side, side, 2};
  if (of.side.rank() == 3) options.input = {1, of.side[0], of.side[1], of.side[2], 2};
  options.slabs = of.slabs;
  options.activations = of.type;
  options.loss.batch_dice = of.batch_dice;
  options.share = net::share_of(of.batch, ranks.rank() / sharers, ranks.count() / sharers);
  options.slab_ranks = {ranks.rank() % sharers, of.sharers};
  const net::TrainingStep step = net::build_training_step(options);
  const net::Graph& graph = step.graph;
  const std::unique_ptr<net::Backend> backend = net::make_backend(of.backend);
  net::Exchange exchange(ranks, nullptr, static_cast<int>(sharers));
  CompiledGraph compiled(*backend, graph, &exchange);
  const CostModel costs = estimate_costs(graph, find_device_rates("cpu"));
  StepProblem request{&graph, compiled.workspaces(), {}, {step.loss}, &costs};
  if (of.swaps) {
    const std::int64_t least = least_budget(graph, compiled.workspaces(), {step.loss}).bytes,
                       most = make_plan("keep", request).peak_bytes;
    request.budgets = {(least + 3 * most) / 4, 1 << 30, 0};
  }
  const Plan plan = make_plan(of.swaps ? "hybrid" : "keep", request, /*quick=*/true);
  EXPECT_EQ(totals(plan).out_bytes > 0 || totals(plan).recomputed_nodes > 0, of.swaps);
  Executor executor(compiled, plan, allocate_tiers(*backend, {&plan}, {}));
  exchange.begin();

  Results results;
  const auto read = [&](net::ValueId id) {
    results.emplace_back(static_cast<std::size_t>(graph.value(id).bytes()));
    executor.read(id, results.back().data(), graph.value(id).bytes());
  };
  std::vector<net::ValueId> persistent = step.parameters;
  persistent.insert(persistent.end(), step.optimizer_state.begin(), step.optimizer_state.end());
  for (const net::ValueId id : step.parameters) {
    const auto bytes = test::content(graph, id, 7);
    executor.write(id, bytes.data(), static_cast<std::int64_t>(bytes.size()));
  }
  for (const net::ValueId id : step.optimizer_state) {
    const std::vector<float> values = net::initial_state(graph, id);
    executor.write(id, values.data(), graph.value(id).bytes());
  }
  // The content of a plane depends on its sample's position in the batch, not on the rank.
  const auto write = [&](const std::vector<net::ValueId>& ids, net::Fill fill, int turn) {
    const std::size_t each = ids.size() / static_cast<std::size_t>(options.share.count);
    std::vector<double> values;
    std::int64_t from = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const net::Value& value = graph.value(ids[i]);
      if (i % each == 0) {
        const std::uint64_t sample = static_cast<std::uint64_t>(options.share.first) + i / each;
        const std::int64_t plane = value.shape.count_from(2);
        values = net::fill_values(fill, step.planes[index(options.slab_ranks.rank)].to * plane,
                                  10'000 * static_cast<std::uint64_t>(turn) + 100 * sample);
        from = step.planes[index(options.slab_ranks.rank)].from * plane;
      }
      std::vector<std::byte> bytes(static_cast<std::size_t>(value.bytes()));
      net::store_elements(bytes.data(), values.data() + from, value.type, value.shape.count());
      from += value.shape.count();
      executor.write(ids[i], bytes.data(), value.bytes());
    }
  };
  for (int turn = 1; turn <= 2; ++turn) {
    write(step.input, net::Fill::normal, turn);
    write(step.target, net::Fill::bits, turn);
    executor.run({5, turn, 1e-2});
    read(step.loss);
  }
  for (const net::ValueId id : persistent) read(id);
  return results;
}

struct SameBitsCase {
  const char* name;
  SharedCase of;
  std::vector<std::pair<int, std::int64_t>> ranks;  // and how many of them share a volume
  bool shares = true;                               // by slabs: compared with one rank in slabs
};

void PrintTo(const SameBitsCase& row, std::ostream* out) {
  *out << row.name;
}

const SameBitsCase same_bits_cases[] = {
    {"OnAnyNumberOfRanks", {}, {{2, 1}, {3, 1}, {4, 1}, {8, 1}}, false},
    {"WhereTheTreeIsLopsided", {.batch = 10}, {{2, 1}, {5, 1}, {10, 1}}, false},
    {"InSlabs", {.batch = 6, .slabs = 2}, {{2, 1}, {3, 1}}, false},
    {"WhileTheySwap", {.batch = 6, .swaps = true}, {{2, 1}, {3, 1}, {6, 1}}, false},
    {"WithAScaledLoss", {.batch = 6, .type = net::ElementType::f16}, {{2, 1}, {3, 1}}, false},
    // The samples' sums are exchanged before any gradient is computed.
    {"WithTheDiceOfTheBatch", {.batch = 10, .batch_dice = true}, {{2, 1}, {5, 1}, {10, 1}}, false},
    {"WithTheDiceOfTheBatchInSlabs", {.batch = 6, .slabs = 2, .batch_dice = true}, {{2, 1}, {3, 1}}, false},
    {"WithTheDiceOfTheBatchWhileTheySwap",
     {.batch = 6, .swaps = true, .batch_dice = true},
     {{2, 1}, {3, 1}},
     false},
    {"SharingAVolume", {.batch = 1, .side = {16, 8, 8}}, {{2, 2}, {3, 3}, {4, 4}, {8, 8}}},
    {"SharingAnUnevenVolume", {.batch = 1, .side = {12, 8, 8}}, {{2, 2}, {5, 5}}},
    {"SharingInSeveralSlabsEach", {.batch = 1, .slabs = 2, .side = {16, 8, 8}}, {{2, 2}, {3, 3}}},
    {"SharingBesideRanksWithOtherSamples", {.batch = 4, .side = {8, 8, 8}}, {{2, 2}, {4, 2}, {8, 2}, {6, 3}}},
    {"SharingWithTheDiceOfTheBatch", {.batch = 2, .batch_dice = true, .side = {8, 8, 8}}, {{2, 2}, {4, 2}}},
    {"SharingWhileTheySwap", {.batch = 1, .slabs = 2, .swaps = true, .side = {16, 8, 8}}, {{2, 2}, {3, 3}}},
    {"SharingInBf16", {.batch = 2, .type = net::ElementType::bf16, .side = {8, 8, 8}}, {{2, 2}, {4, 2}}}};

void expect_same_bits(const SameBitsCase& row) {
  const auto by = [&](std::int64_t sharers) { return row.shares ? row.of.over(sharers) : row.of; };
  const Results expected = trained(net::alone(), by(1));
  for (const auto& [count, sharers] : row.ranks) {
    const std::vector<Results> found = test::on_ranks<Results>(
        count, [&, each = sharers](net::Ranks& ranks) { return trained(ranks, by(each)); });
    for (std::size_t rank = 0; rank < found.size(); ++rank)
      EXPECT_TRUE(found[rank] == expected)
          << row.of.network << ": rank " << rank << " of " << count << ", " << sharers << " per volume";
  }
}

class RankSteps : public testing::TestWithParam<SameBitsCase> {};

TEST_P(RankSteps, GiveTheSameBitsAsOneRank) {
  expect_same_bits(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Ranks, RankSteps, testing::ValuesIn(same_bits_cases),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

TEST(RanksThatShareVolumes, GiveTheSameBitsInEveryNetwork) {
  for (const std::string& name : net::network_names()) {
    const bool images = net::takes_images(name);  // their rows are split
    expect_same_bits({"",
                      {.network = name, .batch = 1, .side = {images ? 1 : 32, images ? 48 : 16, 16}},
                      {{2, 2}, {3, 3}}});
  }
}

// Half of the volume and the few planes around the border.
TEST(RanksThatShareVolumes, HaveAboutTheirPartOfItsMemory) {
  const auto peak = [](std::int64_t slabs) {
    net::StepOptions options = test::tiny("isensee2017");
    options.input = {1, 32, 32, 32, 2};
    options.slab_ranks = {0, slabs};
    return test::StepToPlan(options).keep().peak_bytes;
  };
  EXPECT_LT(static_cast<double>(peak(2)), 0.6 * static_cast<double>(peak(1)));
  EXPECT_LT(static_cast<double>(peak(4)), 0.4 * static_cast<double>(peak(1)));
}

// Values of one sample are freed before those of the next are computed.
TEST(RankPlans, KeepTheActivationsOfOneSampleAtATime) {
  const auto peak = [](std::int64_t batch, std::int64_t slabs) {
    net::StepOptions options = test::tiny("isensee2017");
    options.input = {1, 16, 16, 16, 2};
    options.slabs = slabs;
    options.share = {0, batch, batch};
    return test::StepToPlan(options).keep().peak_bytes;
  };
  const std::int64_t image = 16 * 16 * 16 * (2 * 4 + 1);
  for (const std::int64_t slabs : {net::whole_volumes, std::int64_t{4}})
    EXPECT_LT(peak(8, slabs), peak(1, slabs) + 8 * image + peak(1, slabs) / 8) << slabs;
}

net::StepOptions first_of_two_ranks(std::int64_t samples, std::int64_t slabs) {
  net::StepOptions options = test::tiny("isensee2017");
  options.input = {1, 16, 16, 16, 2};
  options.slabs = slabs;
  options.share = {0, samples, 2 * samples};
  return options;
}

// A step of the first of two ranks, in which the exchange takes a tenth of the time.
struct Shared : test::StepToPlan {
  explicit Shared(std::int64_t samples = 2, std::int64_t slabs = net::whole_volumes)
      : StepToPlan(first_of_two_ranks(samples, slabs)) {
    set_exchange_seconds(step.graph, {.ranks = 2, .local_rate = 1e9, .message_seconds = 1e-6}, costs);
  }
};

TEST(RankPlans, ExchangeOnALaneOfItsOwnBesideWhatIsLeftToCompute) {
  const Shared shared;
  const Plan plan = shared.keep();
  const Simulation simulation = simulate(plan, shared.costs);
  const double exchanging = simulation.busy_seconds[static_cast<std::size_t>(Lane::exchange)];
  EXPECT_GT(exchanging, 0);
  EXPECT_LT(simulation.seconds - simulation.compute_seconds, 0.25 * exchanging);
  EXPECT_GE(simulation.seconds,
            lower_bound(shared.step.graph, shared.problem.workspaces, {shared.step.loss}, shared.costs, {})
                .seconds);
}

// A value sent to another rank may be recomputed before the answer is used: in every gap, or in random gaps.
TEST(RankPlans, HaveOneLiveRangeOfAValueAtATimeWhereItIsRecomputed) {
  for (const std::int64_t rank : {0, 1}) {
    net::StepOptions options = test::tiny("isensee2017");
    options.input = {1, 16, 16, 16, 2};
    options.slabs = 2;
    options.slab_ranks = {rank, 2};
    const test::StepToPlan shared(options);
    const GraphFacts facts(shared.problem);
    int expanded = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      const Philox random(seed, 7);
      Decisions decisions = keep_everything(facts);
      for (const ValueFacts& value : facts.values)
        for (std::size_t gap = 0; value.recomputable && gap <= value.readers.size(); ++gap) {
          const std::size_t id = index(value.first_gap) + gap;
          decisions.recompute[id] = seed == 0 || random.uniform(id) < static_cast<float>(seed) / 200;
        }
      const std::optional<Sequence> sequence = expand(facts, decisions);
      if (!sequence) continue;
      ++expanded;
      std::vector<std::int32_t> last(facts.values.size(), -2);  // last step of the latest live range
      for (const LiveRange& live_range : sequence->live_ranges) {
        ASSERT_GT(live_range.produced, last[index(live_range.value)])
            << shared.step.graph.value(live_range.value).name << ", rank " << rank << ", seed " << seed;
        last[index(live_range.value)] = live_range.last_use;
      }
    }
    EXPECT_GT(expanded, 50);
  }
}

// With and without slabs.
TEST(RankPlans, UpdateAfterAllElseIsComputed) {
  for (const std::int64_t slabs : {net::whole_volumes, std::int64_t{4}}) {
    const Shared shared(1, slabs);
    bool updates = false;
    for (const net::Node& node : shared.step.graph.nodes()) {
      EXPECT_TRUE(!updates || node.phase == net::Phase::update) << node.name << " in slabs of " << slabs;
      updates = updates || node.phase == net::Phase::update;
    }
  }
}

TEST(RankPlans, AreRefusedWhereAnExchangeIsNotOnItsLaneOrInAnotherOrder) {
  const Shared shared;
  const Plan plan = shared.keep();
  const auto violations = [&](const Plan& changed) {
    return verify(shared.step.graph, shared.problem.workspaces, changed);
  };
  EXPECT_TRUE(violations(plan).empty());
  std::vector<std::size_t> exchanges;
  for (std::size_t i = 0; i < plan.instructions.size(); ++i)
    if (plan.instructions[i].exchanges) exchanges.push_back(i);
  ASSERT_GE(exchanges.size(), 2u);
  Plan elsewhere = plan;
  elsewhere.instructions[exchanges[0]].exchanges = false;
  EXPECT_FALSE(violations(elsewhere).empty());
  Plan turned = plan;
  std::swap(turned.instructions[exchanges[0]].node, turned.instructions[exchanges[1]].node);
  EXPECT_FALSE(violations(turned).empty());
  // Users of an exchange's results wait for it.
  Plan hasty = plan;
  for (Instruction& instruction : hasty.instructions)
    if (!instruction.exchanges) instruction.waits.clear();
  EXPECT_FALSE(violations(hasty).empty());
}

// Decisions for one sample are used for all, without a search over thousands of nodes.
TEST(RankPlans, OfManySamplesAreThoseOfOne) {
  net::StepOptions options = test::tiny("isensee2017");
  options.input = {1, 16, 16, 16, 2};
  const test::StepToPlan sample(net::build_training_step(options), "v100");
  options.share = {0, 8, 8};
  test::StepToPlan all(net::build_training_step(options), "v100");
  all.problem.one_sample = &sample.problem;
  const std::int64_t least = all.least().bytes, most = all.keep().peak_bytes;
  for (const auto& [planner, budget] :
       {std::pair{"hybrid", (least + most) / 2}, {"checkpoint", (least + 3 * most) / 4}}) {
    all.problem.budgets = {budget, 1 << 30, 0};
    const Plan plan = make_plan(planner, all.problem);
    EXPECT_LE(plan.peak_bytes, budget) << planner;
    EXPECT_TRUE(verify(all.step.graph, all.problem.workspaces, plan).empty()) << planner;
  }
}

}  // namespace
}  // namespace voxswap::swap
