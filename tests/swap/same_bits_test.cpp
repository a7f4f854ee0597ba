// The main invariant: a plan changes when and where, never what. Training with every planner, budget and tier
// is identical to the bit to training with separate buffers.
#include <gtest/gtest.h>

#include <tuple>

#include "base/file.h"
#include "net/backends/backend.h"
#include "net/backends/backends.h"
#include "net/networks/networks.h"
#include "net/steps/step.h"
#include "swap/execute/executor.h"
#include "swap/planners/planner.h"
#include "tests/swap/runs.h"

namespace voxswap::swap {
namespace {

using test::Results;
constexpr int steps = 3;  // groups of kernels are recorded in the second and replayed in the third

const net::Graph& suited(const net::Backend& backend, net::Graph& graph) {
  net::suit(backend, graph);
  return graph;
}

// A step on a backend, with costs for everything.
struct Subject {
  net::Graph graph;
  std::vector<net::ValueId> inputs, kept;
  std::unique_ptr<net::Backend> backend;
  CompiledGraph compiled;
  CostModel costs;
  Results expected;

  Subject(const std::string& backend_name, const net::TrainingStep& step)
      : Subject(backend_name, step.graph, {step.input, step.target}, {step.loss}) {}
  Subject(const std::string& backend_name, net::Graph the_graph,
          const std::vector<std::vector<net::ValueId>>& volumes, std::vector<net::ValueId> the_kept)
      : graph(std::move(the_graph)),
        kept(std::move(the_kept)),
        backend(net::make_backend(backend_name)),
        compiled(*backend, suited(*backend, graph)) {
    DeviceRates rates;
    rates.flops_f32 = rates.flops_half = 1e10;
    rates.memory_rate = 1e10;
    rates.launch_seconds = 1e-7;
    rates.link_rate = 1e9;
    costs = estimate_costs(graph, rates);
    costs.to_disk = costs.from_disk = {5e8, 5e8};
    for (const std::vector<net::ValueId>& slabs : volumes)
      inputs.insert(inputs.end(), slabs.begin(), slabs.end());
    test::NaiveRunner runner(*backend, graph);
    expected = test::train(runner, graph, inputs, kept, steps);
  }

  StepProblem request(const Budgets& budgets) const {
    StepProblem result{&graph, compiled.workspaces(), budgets, kept, &costs};
    result.lms_threshold = 256;
    return result;
  }

  bool takes_groups() const { return dynamic_cast<net::Recorder*>(backend->make_stream().get()) != nullptr; }

  Results run(const Plan& plan, const ExecutorOptions& options) {
    const Tiers tiers = allocate_tiers(*backend, {&plan}, fs::temp_directory_path());
    Executor executor(compiled, plan, tiers, options);
    test::InDetail runner(executor, Detail::lanes);
    return test::train(runner, graph, inputs, kept, steps);
  }
};

net::StepOptions in_slabs(const std::string& network, std::int64_t slabs) {
  net::StepOptions options = test::tiny(network);
  options.slabs = slabs;
  return options;
}

struct TierCase {
  std::string name;
  std::int64_t host, disk;
};

// Backend, network and planes per slab. On the CPU the reference represents all; a GPU has its own memories
// and streams.
class SameBits : public testing::TestWithParam<std::tuple<std::string, std::string, std::int64_t>> {};

std::vector<std::string> backends() {
  std::vector<std::string> names = {"reference"};
  if (net::device_count("cuda") > 0) names.push_back("cuda");
  return names;
}

TEST_P(SameBits, UnderEveryPlannerBudgetAndTier) {
  const auto& [backend, network, slabs] = GetParam();
  Subject subject(backend, net::build_training_step(in_slabs(network, slabs)));
  const std::int64_t most = make_plan("keep", subject.request({})).peak_bytes;
  const std::int64_t least = least_budget(subject.graph, subject.compiled.workspaces(), subject.kept).bytes;
  const std::int64_t plenty = std::int64_t{1} << 30;
  const TierCase tiers[] = {
      {"host", plenty, 0}, {"disk", 32 << 10, plenty}, {"both", most / 8 + (32 << 10), plenty}};
  const bool takes_groups = subject.takes_groups();
  int runs = 0, swapped = 0, streamed = 0, on_disk = 0, repeated = 0, written_over = 0;
  for (const std::string& planner : planner_names())
    for (const double share : {0.6, 0.25, 0.04})
      for (const TierCase& tier : tiers) {
        const std::int64_t budget =
            least + static_cast<std::int64_t>(share * static_cast<double>(most - least));
        const std::optional<Plan> found =
            test::plan_that_fits(planner, subject.request({budget, tier.host, tier.disk}), /*quick=*/true);
        if (!found) continue;
        const Plan& plan = *found;
        ExecutorOptions options;
        if (runs % 5 == 1) options.to_host_rate = options.to_device_rate = 200e6;  // simulated
        if (runs % 7 == 2) options.serial = true;
        // Alternates between groups of kernels, if the device supports them, and single kernels.
        const bool graphs = takes_groups && runs % 2 == 0;
        const test::Graphs setting(graphs);
        EXPECT_TRUE(subject.run(plan, options) == subject.expected)
            << planner << ", " << share << " of what is between least and most, " << tier.name
            << (graphs ? ", kernels in groups" : "");
        const PlanTotals moved = totals(plan);
        ++runs;
        swapped += moved.out_bytes > 0;
        streamed += plan.streamed_bytes > 0;
        on_disk += moved.disk_out_bytes > 0;
        repeated += moved.recomputed_nodes > 0;
        written_over += test::written_over_while_away(plan) > 0;
      }
  const bool has_workspaces = backend != "reference";  // with which some planners have no plan
  EXPECT_GE(runs, has_workspaces ? 10 : 15);
  EXPECT_GE(swapped, 8);
  EXPECT_GE(streamed, 5);
  EXPECT_GE(on_disk, 2);
  EXPECT_GE(repeated, 3);
  // With whole volumes and a tight budget; in slabs there may be other plans.
  const bool must_write_over = network != "unet3d" && slabs == net::whole_volumes;
  EXPECT_GE(written_over, must_write_over ? 1 : 0);
}

// Inputs are copied in slab by slab, and results copied out as they are computed.
TEST_P(SameBits, OfInferenceWhateverStreams) {
  const auto& [backend, network, slabs] = GetParam();
  net::StepOptions options = in_slabs(network, slabs);
  if (!net::classifies_images(network))
    options.labels = {.channels = std::vector<double>(6),
                      .least = 0.5,
                      .values = std::vector<double>(5),
                      .probabilities = true};
  const net::InferenceStep step = net::build_inference_step(options, /*with_loss=*/true);
  std::vector<net::ValueId> kept = step.probabilities, tables;
  kept.insert(kept.end(), step.labels.begin(), step.labels.end());
  kept.push_back(step.loss);
  if (!step.labels.empty()) {
    kept.push_back(step.confusion);
    tables = {step.label_channels, step.label_values};
  }
  Subject subject(backend, step.graph, {step.input, step.target, step.truth, tables}, kept);
  const std::int64_t most = make_plan("keep", subject.request({})).peak_bytes;
  const std::int64_t least = least_budget(subject.graph, subject.compiled.workspaces(), kept).bytes;
  int inputs = 0, results = 0;
  for (const std::string& planner : planner_names())
    for (const double share : {0.6, 0.25, 0.1, 0.02}) {
      const std::int64_t budget =
          least + static_cast<std::int64_t>(share * static_cast<double>(most - least));
      const std::optional<Plan> found =
          test::plan_that_fits(planner, subject.request({budget, 1 << 20, 0}), /*quick=*/true);
      if (!found) continue;
      const Plan& plan = *found;
      const test::Poisoned poisoned(true);
      EXPECT_TRUE(subject.run(plan, {}) == subject.expected)
          << planner << ", " << share << " of what is between least and most";
      for (const Streamed& streamed : plan.streamed)
        ++(subject.graph.value(streamed.value).role == net::Role::input ? inputs : results);
    }
  const bool in_slabs = slabs != net::whole_volumes;
  EXPECT_GE(inputs, in_slabs ? 4 : 1);
  const bool gives_slabs = in_slabs && !net::classifies_images(network);
  EXPECT_GE(results, gives_slabs ? 4 : 0);
}

INSTANTIATE_TEST_SUITE_P(Networks, SameBits,
                         testing::Combine(testing::ValuesIn(backends()),
                                          testing::Values("isensee2017", "unet3d", "plain_unet",
                                                          "resenc_unet", "resnet3d", "resnet18"),
                                          testing::Values(net::whole_volumes, std::int64_t{2})),
                         [](const auto& parameters) {
                           return std::get<0>(parameters.param) + "_" + std::get<1>(parameters.param) +
                                  (std::get<2>(parameters.param) == net::whole_volumes ? "" : "_in_slabs");
                         });

}  // namespace
}  // namespace voxswap::swap
