// Verifies that results do not depend on the plan. It trains the same steps under every planner, budget and
// tier, and compares all losses and final weights, to the bit, with a step that keeps everything and launches
// kernels one by one. CSV on standard output. Exit code 1 if any differ.
//
//   same_bits [--network FILTERS,DEPTH] [--beside-copies] SIDE f32|bf16 STEPS DISK_FOLDER [BACKEND]
//
// --beside-copies: tests one step that keeps everything and one that swaps, with kernels launched one by one
// and as graphs, while another stream continuously copies to and from the device.
//
// BACKEND: onednn (the default) or cuda.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

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

// Copies a block to the device and back during its lifetime, like uploads of the next batch.
class Copies {
 public:
  explicit Copies(net::Backend& backend)
      : host_(backend.allocate_host(bytes)),
        device_(backend.allocate(bytes)),
        stream_(backend.make_stream()),
        thread_([this] {
          while (!done_) {
            stream_->copy(device_->data(), host_->data(), bytes);
            stream_->copy(host_->data(), device_->data(), bytes);
            stream_->synchronize();
          }
        }) {}
  ~Copies() {
    done_ = true;
    thread_.join();
  }

 private:
  static constexpr std::int64_t bytes = std::int64_t{8} << 20;
  std::unique_ptr<net::Memory> host_, device_;
  std::unique_ptr<net::Stream> stream_;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

swap::CostModel measured(bench::RandomTraining& training, const swap::StepProblem& request,
                         const swap::Plan& keep, const char* folder) {
  swap::ProfileRequest profile;
  profile.kept = request.kept;
  profile.host_budget_bytes = profile.disk_budget_bytes = 4 * keep.peak_bytes;
  profile.disk_folder = folder;
  return swap::measure_costs(training.compiled, profile);
}

constexpr const char* columns =
    "planner,budget_mib,least_mib,tier,arena_mib,host_mib,disk_mib,out_mb,recomputed,seconds,predicted,"
    "same\n";

void print(const swap::Plan& plan, std::int64_t least, const char* tier, const Outcome& outcome, bool same) {
  const auto mib = [](std::int64_t bytes) { return static_cast<double>(bytes) / 1048576; };
  const swap::PlanTotals moved = swap::totals(plan);
  std::printf("%s,%.0f,%.0f,%s,%.0f,%.0f,%.0f,%.0f,%lld,%.3f,%.3f,%s\n", plan.planner.c_str(),
              mib(plan.budget_bytes), mib(least), tier, mib(plan.peak_bytes), mib(plan.host_bytes),
              mib(plan.disk_bytes), static_cast<double>(moved.out_bytes) / 1e6,
              static_cast<long long>(moved.recomputed_nodes), outcome.seconds, plan.predicted_seconds,
              same ? "yes" : "NO");
  std::fflush(stdout);
}

int compare_beside_copies(bench::RandomTraining& training, int steps, const char* folder) {
  swap::StepProblem request{&training.step.graph, training.compiled.workspaces(), {}, {training.step.loss}};
  const std::int64_t least = swap::least_budget(*request.graph, request.workspaces, request.kept).bytes;
  const swap::Plan keep = swap::make_plan("keep", request);
  const swap::CostModel costs = measured(training, request, keep, folder);
  request.costs = &costs;
  request.budgets = {keep.peak_bytes, 4 * keep.peak_bytes, 0};
  request.lms_threshold = keep.peak_bytes / 1000;
  const swap::Plan swapping = swap::make_plan("lms-threshold", request);
  const Outcome expected = run(training, keep, 0, folder, steps, swap::Detail::instructions);
  std::printf("%s", columns);
  print(keep, least, "one by one", expected, true);
  const Copies copies(*training.backend);
  bool all_same = true;
  for (const swap::Plan* plan : {&keep, &swapping})
    for (const bool graphs : {false, true}) {
      const Outcome outcome =
          run(training, *plan, 0, folder, steps, graphs ? swap::Detail::lanes : swap::Detail::instructions);
      all_same = all_same && outcome == expected;
      print(*plan, least, graphs ? "graphs beside copies" : "one by one beside copies", outcome,
            outcome == expected);
    }
  return all_same ? 0 : 1;
}

int compare(std::int64_t side, const std::string& precision, int steps, const char* folder,
            const std::string& backend, const net::NetworkOptions& network, bool beside_copies) {
  bench::RandomTraining training(side, precision, backend, {}, network);
  if (beside_copies) return compare_beside_copies(training, steps, folder);
  swap::StepProblem request{&training.step.graph, training.compiled.workspaces(), {}, {training.step.loss}};
  const swap::Plan keep = swap::make_plan("keep", request);
  const std::int64_t least = swap::least_budget(*request.graph, request.workspaces, request.kept).bytes;
  const swap::CostModel costs = measured(training, request, keep, folder);
  request.costs = &costs;

  const Outcome expected = run(training, keep, 0, folder, steps, swap::Detail::instructions);
  std::printf("%s", columns);
  print(keep, least, "none (one by one)", expected, true);
  const Outcome kept = run(training, keep, 0, folder, steps);
  print(keep, least, "none", kept, kept == expected);
  const std::int64_t plenty = 4 * keep.peak_bytes;
  const Tier tiers[] = {{"host", plenty, 0, 0},
                        {"disk", 128 << 20, plenty, 0},
                        {"both", keep.peak_bytes / 6, plenty, 0},
                        {"host (link 2 GB/s)", plenty, 0, 2e9}};
  bool same = kept == expected;
  for (const char* planner : {"lms-threshold", "tflms", "checkpoint", "hybrid"})
    for (const double share : {0.4, 0.02})
      for (const Tier& tier : tiers) {
        // Skips tiers that do not change the planner's decisions.
        if (std::string(planner) == "checkpoint" && &tier != &tiers[0]) continue;
        if (std::string(planner) == "lms-threshold" && (share != 0.4 || &tier == &tiers[1])) continue;
        request.budgets = {
            least + static_cast<std::int64_t>(share * static_cast<double>(keep.peak_bytes - least)),
            tier.host, tier.disk};
        try {
          const swap::Plan plan = swap::make_plan(planner, request, /*quick=*/true);
          const Outcome outcome = run(training, plan, tier.rate, folder, steps);
          same = same && outcome == expected;
          print(plan, least, tier.name, outcome, outcome == expected);
        } catch (const Error& error) {
          if (error.exit() != Exit::does_not_fit) throw;
          std::printf("%s,%lld,%lld,%s,,,,,,,,does not fit\n", planner,
                      static_cast<long long>(request.budgets.device >> 20),
                      static_cast<long long>(least >> 20), tier.name);
        }
      }
  return same ? 0 : 1;
}

}  // namespace
}  // namespace voxswap

int main(int count, char** arguments) {
  const voxswap::net::NetworkOptions network = voxswap::bench::take_network(count, arguments);
  const bool beside_copies = count > 1 && std::strcmp(arguments[1], "--beside-copies") == 0;
  if (beside_copies) {
    --count;
    ++arguments;
  }
  if (count != 5 && count != 6) {
    std::fprintf(
        stderr,
        "usage: same_bits [--network FILTERS,DEPTH] [--beside-copies] SIDE f32|bf16 STEPS DISK_FOLDER "
        "[BACKEND]\n");
    return 2;
  }
  try {
    return voxswap::compare(std::atoll(arguments[1]), arguments[2], std::max(1, std::atoi(arguments[3])),
                            arguments[4], count == 6 ? arguments[5] : "onednn", network, beside_copies);
  } catch (const voxswap::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.exit());
  }
}
