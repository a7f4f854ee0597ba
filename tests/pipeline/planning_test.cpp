// Tests the memory budgets chosen from free memory, and the costs of a step on devices that are present or
// not.
#include "pipeline/plan/planning.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "net/backends/cpu/host_device.h"
#include "pipeline/plan/steps.h"
#include "swap/planners/planner.h"
#include "swap/verify/verify.h"
#include "tests/expect.h"
#include "tests/swap/graphs.h"

namespace voxswap::pipeline {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

// A device that only knows its free memory.
class FreeMemory : public net::HostBackend {
 public:
  FreeMemory(std::int64_t device, std::int64_t host, bool one) : device_(device), host_(host), one_(one) {}
  std::string name() const override { return "fake"; }
  std::string description() const override { return "fake"; }
  bool supports(net::ElementType) const override { return true; }
  net::ElementType fastest_type() const override { return net::ElementType::f32; }
  std::unique_ptr<net::Kernel> compile(const net::Graph&, const net::Node&) override { return nullptr; }
  std::int64_t free_bytes() const override { return device_; }
  std::int64_t free_host_bytes() const override { return host_; }
  bool computes_on_host() const override { return one_; }

 private:
  std::int64_t device_, host_;
  bool one_;
};

TEST(Budgets, AreOfWhatIsFreeAndOfWhatIsAskedFor) {
  // 18 of 20 GiB may be used: a tenth is the reserve.
  const FreeMemory cpu(20 * gib, 20 * gib, true), gpu(2 * gib, 40 * gib, false);
  using Asked = std::optional<std::int64_t>;
  struct Case {
    const char* what;
    const FreeMemory& device;
    Asked budget, host;
    std::int64_t gives, beside;
  };
  const std::vector<Case> table = {
      {"one memory: the host gets what the device does not", cpu, 4 * gib, {}, 4 * gib, 14 * gib},
      {"one memory, nobody asks: all is the device's", cpu, {}, {}, 18 * gib, 0},
      {"never together more than is free", cpu, {}, 5 * gib, 13 * gib, 5 * gib},
      {"unless asked for", cpu, 30 * gib, {}, 30 * gib, 0},
      {"of both", cpu, 30 * gib, 7 * gib, 30 * gib, 7 * gib},
      {"or of none", cpu, 30 * gib, 0, 30 * gib, 0},
      {"two memories: what each has free less a reserve of at least half a GiB",
       gpu,
       {},
       {},
       2 * gib - gib / 2,
       36 * gib},
  };
  for (const Case& one : table) {
    MemoryOptions memory;
    memory.budget_bytes = one.budget;
    memory.host_bytes = one.host;
    const swap::Budgets budgets = choose_budgets(one.device, memory);
    EXPECT_EQ(budgets.device, one.gives) << one.what;
    EXPECT_EQ(budgets.host, one.beside) << one.what;
    EXPECT_EQ(budgets.disk, 0) << one.what;
  }
  MemoryOptions memory;  // a host pool stages transfers to disk
  memory.disk_folder = "somewhere";
  memory.disk_bytes = 100 * gib;
  const swap::Budgets budgets = choose_budgets(cpu, memory);
  EXPECT_GE(budgets.host, 2 * gib);
  EXPECT_EQ(budgets.device + budgets.host, 18 * gib);
  EXPECT_EQ(budgets.disk, 100 * gib);
}

Experiment tiny() {
  Experiment experiment;
  experiment.network = {.base_filters = 2, .depth = 3};
  experiment.preprocess.resolution = {8, 8, 8};
  return experiment;
}

// The training step of an experiment on this machine or on a device that is only named.
struct StepOn {
  explicit StepOn(const Experiment& experiment, const std::string& device = "")
      : target(open_target(experiment, device)),
        steps(build_steps(experiment, {1, 1}, target, true)),
        step(plannable(target, experiment.memory, steps.training->graph, {steps.training->loss})) {}
  Target target;
  Steps steps;
  PlannableStep step;
};

TEST(Estimates, TakeTheLinkOfTheExperimentInPlaceOfADeviceThatIsNotHere) {
  Experiment experiment = tiny();
  experiment.memory.to_host_rate = 64e9;
  const StepOn on(experiment, "v100");
  const auto& [v100, steps, step] = on;
  EXPECT_EQ(v100.budgets.device, 16 * gib);
  EXPECT_EQ(v100.budgets.host, 256 * gib);
  EXPECT_EQ(step.problem.workspaces, std::vector<std::int64_t>(step.graph->nodes().size(), 0));
  const swap::CostModel costs = estimate(step, v100, experiment.memory);
  EXPECT_EQ(costs.to_host.alone, 64e9);
  EXPECT_EQ(costs.to_device.busy, v100.rates->link_rate);
}

// Volta's tensor cores support only f16; bf16 came with Ampere.
TEST(Estimates, TakeAPrecisionThatTheDeviceHas) {
  Experiment experiment = tiny();
  EXPECT_EQ(open_target(experiment, "v100").precision, net::ElementType::f16);
  EXPECT_EQ(open_target(experiment, "a100").precision, net::ElementType::bf16);
  EXPECT_EQ(open_target(experiment, "cpu").precision, net::ElementType::f32);
  experiment.training.precision = Precision::bf16;
  EXPECT_THROW(open_target(experiment, "v100"), Error);
  EXPECT_EQ(open_target(experiment, "rtx4090").precision, net::ElementType::bf16);
}

TEST(Estimates, TakeTheLinkOfTheExperimentAsALimitOfTheOneThatIsHere) {
  Experiment experiment = tiny();
  experiment.memory.to_host_rate = 1e15;
  experiment.memory.to_device_rate = 1e6;
  const StepOn here(experiment);
  const swap::CostModel costs = estimate(here.step, here.target, experiment.memory);
  EXPECT_LT(costs.to_host.alone, 1e15);
  EXPECT_EQ(costs.to_device.alone, 1e6);
  EXPECT_EQ(costs.to_device.busy, 1e6);
}

TEST(Targets, WithPlannerUnifiedAreGpus) {
  Experiment experiment = tiny();
  experiment.memory.device = "cpu";
  experiment.memory.planner = "unified";
  test::expect_failure([&] { open_target(experiment); }, Exit::usage, {"memory.planner: unified"});
  const StepOn h200(experiment, "h200");  // a forecast uses keep's plan
  const swap::Plan unified = plan_step("unified", h200.step.problem, experiment);
  EXPECT_EQ(unified.planner, "unified");
  EXPECT_EQ(unified.peak_bytes, plan_step("keep", h200.step.problem, experiment).peak_bytes);
}

TEST(Targets, WithPlannerUnifiedMayHaveAnArenaOfThreeTimesTheBudget) {
  const Experiment experiment = tiny();
  const StepOn h200(experiment, "h200");
  const PlannableStep& step = h200.step;
  swap::StepProblem problem = step.problem;
  const std::int64_t all = plan_step("keep", problem, experiment).peak_bytes;
  problem.budgets.device = (all + 2) / 3;
  EXPECT_THROW(plan_step("keep", problem, experiment), Error);
  const swap::Plan unified = plan_step("unified", problem, experiment);
  EXPECT_TRUE(unified.paged);
  EXPECT_EQ(swap::verify(*step.graph, step.problem.workspaces, unified), std::vector<std::string>{});
  EXPECT_NE(unified.remarks.find("the driver moves pages"), std::string::npos);
  problem.budgets.device = all / 6;
  test::expect_failure([&] { plan_step("unified", problem, experiment); }, Exit::does_not_fit,
                       {"planner unified needs at least"});
}

TEST(Targets, ThatAreNotHereAreRefusedWithTheReason) {
  Experiment experiment = tiny();
  const auto expect_refused = [&](const std::string& device, Exit exit, const std::string& says) {
    experiment.memory.device = device;
    test::expect_failure([&] { open_target(experiment); }, exit, {"memory.device: " + says});
  };
  expect_refused("cuda:1000", Exit::does_not_fit, "cuda:1000: no CUDA device");
  expect_refused("cuda:99999999999", Exit::usage, "expected cuda:N");
}

TEST(Precisions, Tf32IsForGpus) {
  Experiment experiment = tiny();
  experiment.memory.device = "cpu";
  experiment.training.precision = Precision::tf32;
  EXPECT_THROW(open_target(experiment), Error);
  EXPECT_EQ(open_target(experiment, "h200").precision, net::ElementType::f32);
  EXPECT_TRUE(backend_options(experiment.training).tensor_floats);
}

// The input of convolutions for an image with one channel.
TEST(Steps, MakeTheImageSixteenBytesPerVoxelWideOnAGpuAndLeaveItAsItIsOnACpu) {
  Experiment experiment = tiny();
  const auto channels = [&](const std::string& device, Precision precision) {
    experiment.training.precision = precision;
    const Target target = open_target(experiment, device);
    const Steps steps = build_steps(experiment, {1, 1}, target, true);
    const net::Graph& graph = steps.training->graph;
    EXPECT_EQ(graph.value(steps.training->input[0]).shape[4], 1) << "what is read";
    for (const net::Value& value : graph.values())
      if (value.name == "input.padded") return value.shape[4];
    return std::int64_t{1};
  };
  for (const auto& [gpu, halves] : {std::pair("v100", Precision::f16), {"h200", Precision::bf16}}) {
    EXPECT_EQ(channels(gpu, halves), 8) << gpu;
    EXPECT_EQ(channels(gpu, Precision::f32), 4) << gpu;
  }
  EXPECT_EQ(channels("cpu", Precision::bf16), 1);
  EXPECT_EQ(channels("cpu", Precision::f32), 1);
}

TEST(Steps, OfTrainingAndInferenceHoldTheirPersistentValuesAtTheSamePlaces) {
  const Target here = open_target(tiny());
  const Steps steps = build_steps(tiny(), {2, 3}, here, true);
  const PlannableStep training = plannable(here, {}, steps.training->graph, {steps.training->loss}),
                      inference = plannable(here, {}, steps.inference.graph, kept_values(steps.inference));
  const swap::Plan a = *plan_staying(training.problem), b = *plan_staying(inference.problem);
  EXPECT_EQ(a.persistent_bytes, b.persistent_bytes);
  std::vector<std::int64_t> places[2];
  for (const auto& [plan, step, found] :
       {std::tuple(&a, &training, &places[0]), {&b, &inference, &places[1]}})
    for (const swap::Residency& r : plan->residencies)
      if (r.value != net::none && step->graph->value(r.value).persistent()) found->push_back(r.offset);
  EXPECT_EQ(places[0], places[1]);
}

// memory.csv of a step that is small enough to check by hand.
TEST(StepMemory, FollowsThePlanThroughItsTime) {
  test::Small small;
  swap::CostModel costs;
  costs.node_seconds = {1, 2, 4};
  const swap::Plan plan = swap::make_plan("keep", small.request);
  const auto rows = step_memory(small.graph, plan, costs, "r", "2");
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows.front().seconds, 0);
  EXPECT_EQ(rows.back().seconds, 7);
  std::int64_t most = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_TRUE(i == 0 || rows[i].seconds > rows[i - 1].seconds);
    most = std::max(most, rows[i].device_bytes);
    EXPECT_EQ(rows[i].host_bytes, 0);
  }
  EXPECT_EQ(most, plan.live_peak_bytes);
  EXPECT_EQ(rows.back().device_bytes, plan.persistent_bytes);  // kept for the next step
  EXPECT_GT(rows.back().device_bytes, 0);
  EXPECT_EQ(rows[0].planner, "keep");
  EXPECT_EQ(rows[0].budget_bytes, plan.budget_bytes == swap::unlimited ? 0 : plan.budget_bytes);
  EXPECT_EQ(rows[0].host_budget_bytes, 0);
  EXPECT_EQ(step_memory(small.graph, plan, costs, "r", "2", 77)[0].host_budget_bytes, 77);
}

}  // namespace
}  // namespace voxswap::pipeline
