// Measured costs: plausible, complete, cached, and measured again if the cache is unusable.
#include "swap/measure/profile.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "base/checksummed_file.h"
#include "base/error.h"
#include "base/file.h"
#include "base/parallel.h"
#include "net/backends/backends.h"
#include "swap/measure/noise.h"
#include "swap/planners/planner.h"
#include "tests/expect.h"
#include "tests/folder.h"
#include "tests/swap/runs.h"

namespace voxswap::swap {
namespace {

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  return files;
}

// Costs of `seconds` per node, measured on a quiet or a busy machine.
void rewrite(const fs::path& cached, double noise, double seconds) {
  CostModel costs = parse_costs(read_checksummed(cached).value());
  costs.noise = noise;
  for (double& node : costs.node_seconds) node = seconds;
  write_checksummed(cached, costs_json(costs));
}

struct Measured {
  net::TrainingStep step = net::build_training_step(test::tiny("isensee2017"));
  std::unique_ptr<net::Backend> backend = net::make_backend("reference");
  CompiledGraph compiled = CompiledGraph(*backend, step.graph);
  test::TemporaryFolder disk, cache;
  ProfileRequest request;
  Measured() {
    request.kept = {step.loss};
    request.disk_folder = disk.path();
    request.disk_budget_bytes = 1 << 20;
    request.steps = 1;
    request.cache = cache.path() / "costs";
  }
  CostModel costs() { return measure_costs(compiled, request); }
  double first_node() { return costs().node_seconds.front(); }
  std::vector<fs::path> kept() const { return files_in(request.cache); }
};

void expect_plausible(const std::vector<double>& node_seconds) {
  for (const double seconds : node_seconds) {
    EXPECT_GT(seconds, 0);
    EXPECT_LT(seconds, 1);
  }
}

TEST(MeasuredCosts, GiveEveryNodeATimeAndEveryLinkARate) {
  Measured measured;
  const CostModel costs = measured.costs();
  ASSERT_EQ(costs.node_seconds.size(), measured.step.graph.nodes().size());
  expect_plausible(costs.node_seconds);
  for (const Link& link : {costs.to_host, costs.to_device, costs.to_disk, costs.from_disk}) {
    EXPECT_GT(link.alone, 1e6);
    EXPECT_LT(link.alone, 1e12);
    EXPECT_GT(link.busy, 1e6);
    EXPECT_LE(link.busy, link.alone);
  }
  EXPECT_GT(costs.copy_seconds, 0);
  EXPECT_GT(costs.disk_seconds, 0);
  EXPECT_GE(costs.interference, 0);
  EXPECT_LT(costs.interference, 1e-6);
  EXPECT_TRUE(test::contains(costs.source, "reference"));
  EXPECT_TRUE(fs::is_empty(measured.disk.path()));
}

TEST(MeasuredCosts, AreKeptPerGraphAndMeasuredAgainWhenTheFileIsBroken) {
  Measured measured;
  const CostModel first = measured.costs();
  ASSERT_EQ(measured.kept().size(), 1u);
  rewrite(measured.kept().front(), 0, 7);
  EXPECT_EQ(measured.first_node(), 7);

  net::StepOptions wider = test::tiny("isensee2017");
  wider.network.base_filters = 4;
  CompiledGraph other(*measured.backend, net::build_training_step(wider).graph);
  measured.request.kept.clear();
  measure_costs(other, measured.request);
  EXPECT_EQ(measured.kept().size(), 2u);

  for (const fs::path& file : measured.kept()) write_file(file, "{\"half\":");
  const CostModel second = measured.costs();
  EXPECT_EQ(second.node_seconds.size(), first.node_seconds.size());
  EXPECT_LT(second.node_seconds.front(), 7);
}

TEST(MeasuredCosts, ThatWereDisprovedOrForgottenAreMeasuredAgain) {
  Measured measured;
  measured.costs();
  const fs::path cached = measured.kept().front();
  rewrite(cached, 0, 7);
  const CostModel wrong = measured.costs();
  measured.request.disproved = &wrong;
  EXPECT_LT(measured.first_node(), 7);
  measured.request.disproved = nullptr;
  EXPECT_LT(measured.first_node(), 7);

  rewrite(cached, 0, 7);
  forget_costs(measured.compiled, measured.request);
  EXPECT_LT(measured.first_node(), 7);
}

TEST(Noise, IsTheSpreadOfStepsAndTheTimeThatThreadsWaitForACore) {
  EXPECT_EQ(spread({3}), 0);
  EXPECT_DOUBLE_EQ(spread({4, 2, 3}), 0.5);
  if (!fs::exists("/proc/self/schedstat")) GTEST_SKIP() << "this system does not count waits";
  const WaitsForCores waits;
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 2 * usable_core_count() + 1; ++i)
    threads.emplace_back([&] {
      while (!stop) {
      }
    });
  double share = 0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (share < 0.1 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    share = waits.share();
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(share, 0.1);
  EXPECT_LE(share, 1);
}

// The inference step of a run has optimiser state that no node uses; that of a prediction has none.
TEST(MeasuredCosts, AreTheSameForGraphsThatDifferInWhatNoNodeTouches) {
  Measured measured;
  measured.costs();
  rewrite(measured.kept().front(), 0, 7);
  net::Graph with_more = measured.step.graph;
  with_more.add_value("untouched", {1, 1, 1, 1, 8}, net::ElementType::f32, net::Role::optimizer_state);
  CompiledGraph other(*measured.backend, with_more);
  EXPECT_EQ(measure_costs(other, measured.request).node_seconds.front(), 7);
  EXPECT_EQ(measured.kept().size(), 1u);
}

TEST(MeasuredCosts, AreNotKeptWhereTheCacheCannotBeWrittenAndServeAllTheSame) {
  Measured measured;
  write_file(measured.request.cache, "a file in the way");
  const CostModel costs = measured.costs();
  EXPECT_EQ(costs.node_seconds.size(), measured.step.graph.nodes().size());
  EXPECT_EQ(read_file(measured.request.cache), "a file in the way");
}

TEST(MeasuredCosts, ImitatedRatesCapWhatWasMeasuredAndAreNotKept) {
  Measured measured;
  measured.request.to_host_rate = 1e6;
  measured.request.to_device_rate = 2e6;
  const CostModel slow = measured.costs();
  EXPECT_EQ(slow.to_host.alone, 1e6);
  EXPECT_EQ(slow.to_host.busy, 1e6);
  EXPECT_EQ(slow.to_device.alone, 2e6);
  EXPECT_EQ(slow.to_device.busy, 2e6);
  measured.request.to_host_rate = measured.request.to_device_rate = 0;
  EXPECT_GT(measured.costs().to_host.alone, 1e6);
}

TEST(MeasuredCosts, AreMeasuredWithinABudgetThatKeepingEverythingExceeds) {
  Measured measured;
  measured.request.cache.clear();
  const std::vector<std::int64_t>& workspaces = measured.compiled.workspaces();
  const net::Graph& graph = measured.step.graph;
  const std::int64_t keep = make_plan("keep", {&graph, workspaces, {}, {measured.step.loss}}).peak_bytes;
  const std::int64_t least = least_budget(graph, workspaces, {measured.step.loss}).bytes;
  ASSERT_LT(least, keep);
  measured.request.budget_bytes = least + (keep - least) / 2;
  measured.request.host_budget_bytes = measured.request.disk_budget_bytes = keep;
  const CostModel costs = measured.costs();
  EXPECT_FALSE(test::contains(costs.source, "planner keep"));
  ASSERT_EQ(costs.node_seconds.size(), graph.nodes().size());
  expect_plausible(costs.node_seconds);
  EXPECT_GT(costs.to_host.busy, 1e6);

  measured.request.budget_bytes = least / 2;
  EXPECT_THROW(measured.costs(), Error);
}

TEST(MeasuredLinks, HaveRatesWithAndWithoutADisk) {
  const test::TemporaryFolder folder;
  const std::unique_ptr<net::Backend> backend = net::make_backend("reference");
  const CostModel without = measure_links(*backend, {});
  EXPECT_GT(without.to_host.alone, 1e6);
  EXPECT_GT(without.to_device.alone, 1e6);
  EXPECT_EQ(without.to_disk.alone, 0);
  const CostModel with = measure_links(*backend, folder.path());
  EXPECT_GT(with.to_disk.alone, 1e5);
  EXPECT_GT(with.from_disk.alone, 1e5);
}

}  // namespace
}  // namespace voxswap::swap
