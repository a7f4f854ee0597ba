// Verifies that results do not depend on the plan. It trains the same steps under every planner, budget and
// tier, and compares all losses and final weights, to the bit, with a step that keeps everything and launches
// kernels one by one. CSV on standard output. Exit code 1 if any differ.
//
//   same_bits [--network FILTERS,DEPTH] SIDE f32|bf16 STEPS DISK_FOLDER [BACKEND]
//
// BACKEND: onednn (the default) or cuda.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/text.h"
#include "bench/random_training.h"
#include "net/networks/network.h"
#include "swap/measure/profile.h"
#include "swap/model/bound.h"
#include "swap/planners/planner.h"

namespace voxswap {
namespace {

struct Tier {
  const char* name;
  std::int64_t host, disk;
  double rate;  // imitated link, bytes/s; 0: none
};

struct Outcome {
  std::vector<float> losses;
  std::vector<std::vector<float>> weights;
  double seconds = 0;  // the shortest step
  bool operator==(const Outcome& other) const { return same(losses, other.losses) && same_weights(other); }

 private:
  static bool same(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
  }
  bool same_weights(const Outcome& other) const {
    for (std::size_t i = 0; i < weights.size(); ++i)
      if (!same(weights[i], other.weights[i])) return false;
    return weights.size() == other.weights.size();
  }
};

Outcome run(bench::RandomTraining& training, const swap::Plan& plan, double rate, const char* folder,
            int steps, swap::Detail detail = swap::Detail::lanes) {
  swap::Executor executor(training.compiled, plan, swap::allocate_tiers(*training.backend, {&plan}, folder),
                          {rate, rate});
  training.write_weights(executor);
  Outcome outcome;
  for (int i = 1; i <= steps; ++i) {
    const double seconds = training.train(executor, i, detail).seconds;
    outcome.seconds = i == 1 ? seconds : std::min(outcome.seconds, seconds);
    outcome.losses.push_back(0);
    executor.read(training.step.loss, &outcome.losses.back(), sizeof(float));
  }
  for (const net::ValueId id : training.step.parameters) {
    const net::Value& value = training.step.graph.value(id);
    outcome.weights.emplace_back(static_cast<std::size_t>(value.shape.count()));
    executor.read(id, outcome.weights.back().data(), value.bytes());
  }
  return outcome;
}

int compare(std::int64_t side, const std::string& precision, int steps, const char* folder,
            const std::string& backend, const net::NetworkOptions& network) {
  bench::RandomTraining training(side, precision, backend, {}, network);
  swap::PlanRequest request{&training.step.graph, training.compiled.workspaces(), {}, {training.step.loss}};
  const swap::Plan keep = swap::make_plan("keep", request);
  const std::int64_t least = swap::least_budget(*request.graph, request.workspaces, request.kept).bytes;
  swap::ProfileRequest profile;
  profile.kept = request.kept;
  profile.host_budget_bytes = profile.disk_budget_bytes = 4 * keep.peak_bytes;
  profile.disk_folder = folder;
  const swap::CostModel costs = swap::measure_costs(training.compiled, profile);
  request.costs = &costs;

  const Outcome expected = run(training, keep, 0, folder, steps, swap::Detail::instructions);
  std::printf(
      "planner,budget_mib,least_mib,tier,arena_mib,host_mib,disk_mib,out_mb,again,seconds,predicted,same\n");
  const auto mib = [](std::int64_t bytes) { return static_cast<double>(bytes) / 1048576; };
  const auto print = [&](const swap::Plan& plan, const char* tier, const Outcome& outcome) {
    const swap::PlanTotals moved = swap::totals(plan);
    std::printf("%s,%.0f,%.0f,%s,%.0f,%.0f,%.0f,%.0f,%lld,%.3f,%.3f,%s\n", plan.planner.c_str(),
                mib(plan.budget_bytes), mib(least), tier, mib(plan.peak_bytes), mib(plan.host_bytes),
                mib(plan.disk_bytes), static_cast<double>(moved.out_bytes) / 1e6,
                static_cast<long long>(moved.recomputed_nodes), outcome.seconds, plan.predicted_seconds,
                outcome == expected ? "yes" : "NO");
    std::fflush(stdout);
  };
  print(keep, "none, one by one", expected);
  const Outcome kept = run(training, keep, 0, folder, steps);
  print(keep, "none", kept);
  const std::int64_t plenty = 4 * keep.peak_bytes;
  const Tier tiers[] = {{"host", plenty, 0, 0},
                        {"disk", 128 << 20, plenty, 0},
                        {"both", keep.peak_bytes / 6, plenty, 0},
                        {"host, link 2 GB/s", plenty, 0, 2e9}};
  bool same = kept == expected;
  for (const char* planner : {"lms-threshold", "tflms", "checkpoint", "hybrid"})
    for (const double share : {0.4, 0.02})
      for (const Tier& tier : tiers) {
        // Only what is decided differently with another tier is worth its time.
        if (std::string(planner) == "checkpoint" && &tier != &tiers[0]) continue;
        if (std::string(planner) == "lms-threshold" && (share != 0.4 || &tier == &tiers[1])) continue;
        request.budgets = {
            least + static_cast<std::int64_t>(share * static_cast<double>(keep.peak_bytes - least)),
            tier.host, tier.disk};
        try {
          const swap::Plan plan = swap::make_plan(planner, request);
          const Outcome outcome = run(training, plan, tier.rate, folder, steps);
          same = same && outcome == expected;
          print(plan, tier.name, outcome);
        } catch (const Error& error) {
          if (error.exit() != Exit::does_not_fit) throw;
          std::printf("%s,%.0f,%.0f,%s,,,,,,,,does not fit\n", planner, mib(request.budgets.device),
                      mib(least), tier.name);
        }
      }
  return same ? 0 : 1;
}

}  // namespace
}  // namespace voxswap

int main(int count, char** arguments) {
  const voxswap::net::NetworkOptions network = voxswap::bench::take_network(count, arguments);
  if (count != 5 && count != 6) {
    std::fprintf(stderr,
                 "usage: same_bits [--network FILTERS,DEPTH] SIDE f32|bf16 STEPS DISK_FOLDER [BACKEND]\n");
    return 2;
  }
  try {
    return voxswap::compare(std::atoll(arguments[1]), arguments[2], std::max(1, std::atoi(arguments[3])),
                            arguments[4], count == 6 ? arguments[5] : "onednn", network);
  } catch (const voxswap::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.exit());
  }
}
