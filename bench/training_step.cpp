// One training step on random data: median seconds and peak resident memory of this process, as one line of
// JSON. compare_training_step.py runs it beside PyTorch.
//
//   training_step SIDE f32|bf16 STEPS [SHARE [POOL]]
//
// SHARE: memory budget as a fraction of the memory for keeping everything (default 1). Below 1, planner
// hybrid is used, with costs measured here. POOL: host memory for swapping, as a fraction of the same
// (default 1). With 0, tensors that are not kept are recomputed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/error.h"
#include "bench/peak_memory.h"
#include "bench/random_training.h"
#include "net/graph/graph.h"
#include "swap/measure/profile.h"
#include "swap/planners/planner.h"

namespace voxswap {
namespace {

struct Shares {
  double arena = 1, pool = 1;
};

swap::Plan choose_plan(bench::RandomTraining& training, const Shares& shares) {
  swap::StepProblem request{&training.step.graph, training.compiled.workspaces(), {}, {training.step.loss}};
  swap::Plan keep = swap::make_plan("keep", request);
  if (shares.arena >= 1) return keep;
  const auto all = static_cast<double>(keep.peak_bytes);
  request.budgets.device = static_cast<std::int64_t>(shares.arena * all);
  request.budgets.host = static_cast<std::int64_t>(shares.pool * all);
  swap::ProfileRequest profile;
  profile.kept = {training.step.loss};
  profile.budget_bytes = request.budgets.device;
  profile.host_budget_bytes = request.budgets.host;
  const swap::CostModel costs = swap::measure_costs(training.compiled, profile);
  request.costs = &costs;
  return swap::make_plan("hybrid", request);
}

void measure(std::int64_t side, const std::string& precision, int steps, const Shares& shares) {
  const std::int64_t resident_before = bench::peak_resident_bytes();
  bench::RandomTraining training(side, precision);
  const swap::Plan plan = choose_plan(training, shares);
  swap::Executor executor(training.compiled, plan, swap::allocate_tiers(*training.backend, {&plan}, ""));
  training.write_weights(executor);

  std::vector<double> seconds;
  for (int i = 0; i <= steps; ++i) {  // the first is a warm-up
    const double taken = training.train(executor, i + 1).seconds;
    if (i > 0) seconds.push_back(taken);
  }
  std::sort(seconds.begin(), seconds.end());
  double flops = 0;
  for (const net::Node& node : training.step.graph.nodes())
    flops += net::node_flops(training.step.graph, node);
  float loss = 0;
  executor.read(training.step.loss, &loss, sizeof loss);
  std::printf(
      "{\"side\": %lld, \"precision\": \"%s\", \"seconds\": %.6f, \"peak_bytes\": %lld, \"before_bytes\": "
      "%lld, \"arena_bytes\": %lld, \"host_bytes\": %lld, \"predicted\": %.6f, \"gflop\": %.3f, \"loss\": "
      "%.6f, \"backend\": \"%s\"}\n",
      static_cast<long long>(side), precision.c_str(), seconds[seconds.size() / 2],
      static_cast<long long>(bench::peak_resident_bytes()), static_cast<long long>(resident_before),
      static_cast<long long>(plan.peak_bytes), static_cast<long long>(plan.host_bytes),
      plan.predicted_seconds, flops / 1e9, static_cast<double>(loss),
      training.backend->description().c_str());
}

}  // namespace
}  // namespace voxswap

int main(int count, char** arguments) {
  if (count < 4 || count > 6) {
    std::fprintf(stderr, "usage: training_step SIDE f32|bf16 STEPS [SHARE [POOL]]\n");
    return 2;
  }
  try {
    voxswap::measure(std::atoll(arguments[1]), arguments[2], std::max(1, std::atoi(arguments[3])),
                     {count > 4 ? std::atof(arguments[4]) : 1, count > 5 ? std::atof(arguments[5]) : 1});
    return 0;
  } catch (const voxswap::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.exit());
  }
}
