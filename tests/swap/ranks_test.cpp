// Steps of several ranks, which are threads here: the bits of a step of one rank on the same batch, whatever
// their number, the plan, and where the volumes are cut.
#include <gtest/gtest.h>

#include "base/error.h"
#include "net/backends/backends.h"
#include "net/collective/exchange.h"
#include "net/steps/step.h"
#include "swap/execute/executor.h"
#include "swap/planners/planner.h"
#include "tests/net/rank_threads.h"
#include "tests/net/run_graph.h"
#include "tests/swap/runs.h"

namespace voxswap::swap {
namespace {

using test::Results;

struct Case {
  std::int64_t batch = 24;
  std::int64_t pieces = net::whole_volumes;
  bool swaps = false;
  net::ElementType type = net::ElementType::f32;
};

// One rank's part of a few steps: losses, then what persists.
Results trained(net::Ranks& ranks, const Case& of) {
  net::StepOptions options = test::tiny("isensee2017");
  options.network.depth = 2;
  options.input = {1, 4, 4, 4, 2};
  options.pieces = of.pieces;
  options.activations = of.type;
  options.share = net::share_of(of.batch, ranks.rank(), ranks.count());
  const net::TrainingStep step = net::build_training_step(options);
  const net::Graph& graph = step.graph;
  const std::unique_ptr<net::Backend> backend = net::make_backend("reference");
  net::Exchange exchange(ranks);
  CompiledGraph compiled(*backend, graph, &exchange);
  const CostModel costs = estimate_costs(graph, find_device_rates("cpu"));
  PlanRequest request{&graph, compiled.workspaces(), {}, {step.loss}, &costs};
  request.quick = true;
  if (of.swaps)
    request.budgets = {least_budget(graph, compiled.workspaces(), {step.loss}).bytes + 4096, 1 << 30, 0};
  const Plan plan = make_plan(of.swaps ? "hybrid" : "keep", request);
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
  // A piece of a sample holds the same on whichever rank: by the sample's place in the batch.
  const auto write = [&](const std::vector<net::ValueId>& ids, net::Fill fill, int turn) {
    const std::size_t each = ids.size() / static_cast<std::size_t>(options.share.count);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const net::Value& value = graph.value(ids[i]);
      const std::uint64_t sample = static_cast<std::uint64_t>(options.share.first) + i / each;
      const std::vector<double> values = net::fill_values(
          fill, value.shape.count(), 10'000 * static_cast<std::uint64_t>(turn) + 100 * sample + i % each);
      std::vector<std::byte> bytes(static_cast<std::size_t>(value.bytes()));
      net::store_elements(bytes.data(), values.data(), value.type, value.shape.count());
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

void expect_same_bits(const Case& of, const std::vector<int>& counts) {
  const Results expected = trained(net::alone(), of);
  for (const int count : counts) {
    const std::vector<Results> found =
        test::on_ranks<Results>(count, [&](net::Ranks& ranks) { return trained(ranks, of); });
    for (std::size_t rank = 0; rank < found.size(); ++rank)
      EXPECT_TRUE(found[rank] == expected) << "rank " << rank << " of " << count;
  }
}

TEST(RankSteps, GiveTheSameBitsOnAnyNumberOfRanks) {
  expect_same_bits({}, {2, 3, 4, 8});
}

TEST(RankSteps, GiveTheSameBitsWhereTheTreeIsLopsided) {
  expect_same_bits({.batch = 10}, {2, 5, 10});
}

TEST(RankSteps, GiveTheSameBitsInPieces) {
  expect_same_bits({.batch = 6, .pieces = 2}, {2, 3});
}

TEST(RankSteps, GiveTheSameBitsWhileTheySwap) {
  expect_same_bits({.batch = 6, .swaps = true}, {2, 3, 6});
}

TEST(RankSteps, GiveTheSameBitsWithAScaledLoss) {
  expect_same_bits({.batch = 6, .type = net::ElementType::f16}, {2, 3});
}

// What is made of one sample is gone before the next one's is there.
TEST(RankSteps, KeepTheActivationsOfOneSampleAtATime) {
  const auto peak = [](std::int64_t batch) {
    net::StepOptions options = test::tiny("isensee2017");
    options.input = {1, 16, 16, 16, 2};
    options.share = {0, batch, batch};
    const net::TrainingStep step = net::build_training_step(options);
    PlanRequest request{
        &step.graph, std::vector<std::int64_t>(step.graph.nodes().size(), 0), {}, {step.loss}};
    return make_plan("keep", request).peak_bytes;
  };
  const std::int64_t image = 16 * 16 * 16 * (2 * 4 + 1);
  EXPECT_LT(peak(8), peak(1) + 8 * image + peak(1) / 8);
}

}  // namespace
}  // namespace voxswap::swap
