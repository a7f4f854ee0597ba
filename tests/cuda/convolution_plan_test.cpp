// cuDNN's plans for GPUs that are not present: every convolution of the conformance suite and of large
// volumes gets an engine that obeys the rules.
#include "net/backends/cuda/convolution_plan.h"

#include <map>
#include <set>

#include "net/backends/cuda/kernels.h"
#include "net/graph/graph.h"
#include "net/graph/operation.h"
#include "net/networks/networks.h"
#include "net/steps/step.h"
#include "tests/conformance/cases/cases.h"
#include "tests/cuda/paper_devices.h"
#include "tests/expect.h"
#include "tests/net/every_network.h"
#include "tests/net/run_graph.h"

namespace voxswap::net::cuda {
namespace {

using ConvolutionPlans = WithCudnn;
using Problem = ConvolutionProblem;

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

struct Combination {
  const PaperDevice* device;
  std::vector<ElementType> types;
};
const std::vector<Combination>& combinations() {
  static const std::vector<Combination> list = {
      {&t4, {ElementType::f32, ElementType::f16}},
      {&a100, {ElementType::f32, ElementType::bf16}},
      {&h200, {ElementType::f32, ElementType::bf16, ElementType::f16}},
      {&b200, {ElementType::f32, ElementType::bf16}}};
  return list;
}

// The convolution of one level of a network, with `channels` input and output channels.
Problem cube(Problem::Kind kind, ElementType type, std::int64_t side, std::int64_t channels) {
  Problem problem;
  problem.kind = kind;
  problem.type = type;
  problem.x = problem.y = {1, side, side, side, channels};
  problem.axes = net::cube(3, 1, 1);
  return problem;
}

TEST_F(ConvolutionPlans, ExistForEveryCaseOfTheConformanceSuiteOnEveryGeneration) {
  for (const Combination& combination : combinations()) {
    OnPaper paper(*combination.device);
    for (const char* name : {"conv3d", "conv3d_sum", "conv3d_data_gradient", "conv3d_weight_gradient"}) {
      for (const OperationCase& example : cases_of(name)) {
        for (const ElementType type : combination.types) {
          const CaseGraph graph = case_graph(find_operation(name), example, type);
          const auto kernel =
              find_maker(find_operation(name))(graph.graph, graph.graph.node(graph.node), paper.device);
          EXPECT_NE(kernel->implementation(), "")
              << combination.device->name << " " << name << " " << example.name << " " << element_name(type);
        }
      }
    }
  }
}

TEST_F(ConvolutionPlans, ExistForTheStepsOfEveryNetwork) {
  for (const Combination& combination : combinations()) {
    OnPaper paper(*combination.device);
    for (const std::string& network : network_names()) {
      StepOptions options;
      options.network.depth = network_depths(network).first + 2;
      options.input = {1, 64, 64, 64, 4};
      options = suited(options, network);
      options.voxel_alignment = voxel_alignment;
      options.activations = combination.types.back();
      const TrainingStep step = build_training_step(options);
      int convolutions = 0;
      for (const Node& node : step.graph.nodes()) {
        if (!node.operation->name.starts_with("conv3d")) continue;
        ++convolutions;
        EXPECT_NO_THROW(find_maker(*node.operation)(step.graph, node, paper.device))
            << combination.device->name << " " << network << " " << node.name;
      }
      EXPECT_GT(convolutions, 10) << network;
    }
  }
}

// The first plan on tensor cores among 24 that respect the workspace limit, as many as would be timed on a
// device.
std::shared_ptr<const ConvolutionPlan> on_tensor_cores(const Problem& problem, const PlanDevice& device) {
  const PlanRules rules = {.workspace_limit = workspace_limit(problem)};
  for (const std::size_t most : {1, 24})
    for (const auto& plan : convolution_plans(problem, device, rules, most))
      if (plan->tensor_cores) return plan;
  return nullptr;
}

// Up to 496^3: from 512^3 on, a volume of 16 channels has 2^31 elements.
TEST_F(ConvolutionPlans, UseTensorCoresForEveryConvolutionOfTheStepUpToFourHundredNinetySix) {
  for (const PaperDevice* const paper : {&t4, &a100, &h200, &b200}) {
    const PlanDevice device = described_device(properties_json(*paper));
    int asked = 0;
    for (const std::int64_t side : {128, 192, 256, 320, 384, 448, 496}) {
      StepOptions options;
      options.input = {1, side, side, side, 4};
      options.voxel_alignment = voxel_alignment;
      options.activations = paper->capability < 80 ? ElementType::f16 : ElementType::bf16;
      const TrainingStep step = build_training_step(options);
      std::set<std::string> seen;
      for (const Node& node : step.graph.nodes()) {
        const auto problem = convolution_problem(step.graph, node);
        if (!problem || is_matrix_product(*problem) || !seen.insert(problem->text()).second) continue;
        ++asked;
        EXPECT_NE(on_tensor_cores(*problem, device), nullptr)
            << paper->name << " " << side << "^3 " << node.name << ": " << problem->text();
      }
    }
    EXPECT_GT(asked, 7 * 20) << paper->name;
  }
}

// The slab at the end of a volume: in front it has a plane of its neighbour, behind it the volume's padding.
TEST_F(ConvolutionPlans, LeaveOutEnginesThatMisreadUnevenPadding) {
  const PlanDevice device = described_device(properties_json(h200));
  Problem slab = cube(Problem::Kind::weight_gradient, ElementType::f32, 64, 16);
  slab.x[1] = 8;
  slab.y[1] = 7;
  slab.axes[0].before = 0;
  const auto misread = [&](const std::string& choice) { return choice == "1" || choice.starts_with("20"); };
  int offered = 0;
  for (const EngineOffer& offer : engine_offers(slab, device)) offered += misread(offer.choice()) ? 1 : 0;
  EXPECT_GE(offered, 1);
  const PlanRules rules = {.deterministic = false, .workspace_limit = workspace_limit(slab)};
  const auto plans = convolution_plans(slab, device, rules, 1000);
  EXPECT_GE(plans.size(), 2U);
  for (const auto& plan : plans) EXPECT_FALSE(misread(plan->choice)) << plan->choice;
}

TEST_F(ConvolutionPlans, ExistForVolumesOfTwoThousandMillionElements) {
  OnPaper paper(h200);
  for (const auto kind :
       {Problem::Kind::forward, Problem::Kind::data_gradient, Problem::Kind::weight_gradient})
    EXPECT_NE(paper.choices.find(cube(kind, ElementType::bf16, 512, 16)), nullptr);
}

TEST_F(ConvolutionPlans, AddTheBiasThemselvesInHalfPrecision) {
  OnPaper paper(h200);
  for (const std::int64_t channels : {3, 16, 128}) {
    Problem problem = cube(Problem::Kind::forward, ElementType::bf16, 32, channels);
    problem.start = Problem::Start::bias;
    EXPECT_NE(paper.choices.find(problem), nullptr) << channels;
  }
}

TEST_F(ConvolutionPlans, RoundF32ToTf32OnlyWhenAsked) {
  const PlanDevice device = described_device(properties_json(h200));
  const auto use_tensor_cores = [&](const PlanRules& rules) {
    std::size_t count = 0;
    for (const auto kind :
         {Problem::Kind::forward, Problem::Kind::data_gradient, Problem::Kind::weight_gradient})
      for (const auto& plan : convolution_plans(cube(kind, ElementType::f32, 64, 32), device, rules, 100))
        count += plan->name.find("tensor cores") != std::string::npos ? 1 : 0;
    return count;
  };
  EXPECT_EQ(use_tensor_cores({.tensor_floats = false, .workspace_limit = 1024 * mebibyte}), 0u);
  EXPECT_GT(use_tensor_cores({.tensor_floats = true, .workspace_limit = 1024 * mebibyte}), 0u);
}

TEST_F(ConvolutionPlans, LeaveOutWhatSumsInAnyOrderWhenTheSameBitsAreWanted) {
  const PlanDevice device = described_device(properties_json(h200));
  const auto count = [&](bool deterministic) {
    return convolution_plans(cube(Problem::Kind::data_gradient, ElementType::f32, 64, 32), device,
                             {.deterministic = deterministic, .workspace_limit = 1024 * mebibyte}, 100)
        .size();
  };
  EXPECT_GT(count(true), 0u);
  EXPECT_GT(count(false), count(true));
}

// The name of a choice in a run's folder: it identifies an engine with its knobs.
TEST_F(ConvolutionPlans, HaveChoicesThatTellThemApart) {
  const PlanDevice device = described_device(properties_json(h200));
  const Problem problem = cube(Problem::Kind::forward, ElementType::bf16, 64, 32);
  std::set<std::string> choices;
  std::size_t plans = 0;
  for (const auto& plan : convolution_plans(problem, device, {.workspace_limit = 1024 * mebibyte}, 100)) {
    choices.insert(plan->choice);
    ++plans;
  }
  EXPECT_GT(plans, 5u);
  EXPECT_EQ(choices.size(), plans);
}

TEST_F(ConvolutionPlans, KeepToTheWorkspaceLimit) {
  const PlanDevice device = described_device(properties_json(h200));
  const Problem problem = cube(Problem::Kind::weight_gradient, ElementType::bf16, 128, 16);
  const auto most = [&](std::int64_t limit) {
    std::int64_t bytes = 0;
    for (const auto& plan : convolution_plans(problem, device, {.workspace_limit = limit}, 100))
      bytes = std::max(bytes, plan->workspace_bytes());
    return bytes;
  };
  EXPECT_GT(most(1024 * mebibyte), 16 * mebibyte);
  EXPECT_LE(most(16 * mebibyte), 16 * mebibyte);
}

// Tensor cores process volumes of few channels only as padded copies, which must be within the limit.
TEST_F(ConvolutionPlans, UseTensorCoresOnFourChannelsWhateverTheSize) {
  OnPaper paper(h200);
  for (const std::int64_t side : {96, 256, 384}) {
    for (const auto kind : {Problem::Kind::forward, Problem::Kind::weight_gradient}) {
      Problem problem = cube(kind, ElementType::bf16, side, 16);
      problem.x = {1, side, side, side, 4};
      const auto plan = paper.choices.find(problem);
      ASSERT_NE(plan, nullptr);
      EXPECT_TRUE(test::contains(plan->name, "tensor cores")) << problem.text();
      EXPECT_LE(plan->workspace_bytes(), workspace_limit(problem));
    }
  }
}

TEST_F(ConvolutionPlans, AreOfSeveralEnginesWhereEachMayOnlyHaveAFew) {
  const PlanDevice device = described_device(properties_json(h200));
  const Problem problem = cube(Problem::Kind::forward, ElementType::bf16, 64, 32);
  PlanRules rules = {.deterministic = false, .workspace_limit = 1024 * mebibyte, .most_of_an_engine = 2};
  std::map<std::string, int> found;
  for (const auto& plan : convolution_plans(problem, device, rules, 100)) ++found[plan->name];
  EXPECT_GE(found.size(), 3u);
  for (const auto& [name, count] : found) EXPECT_LE(count, 2) << name;
}

TEST_F(ConvolutionPlans, AreTheSameEveryTime) {
  const PlanDevice device = described_device(properties_json(h200));
  const auto text = [&] {
    std::string lines;
    const Problem problem = cube(Problem::Kind::data_gradient, ElementType::bf16, 64, 32);
    for (const auto& plan : convolution_plans(problem, device, {.workspace_limit = 1024 * mebibyte}, 100))
      lines += format("{} {}\n", plan->name, plan->workspace_bytes());
    return lines;
  };
  EXPECT_NE(text(), "");
  EXPECT_EQ(text(), text());
}

TEST_F(ConvolutionPlans, NeedLittleBesideTheVolumes) {
  OnPaper paper(h200);
  for (const auto kind :
       {Problem::Kind::forward, Problem::Kind::data_gradient, Problem::Kind::weight_gradient}) {
    const Problem problem = cube(kind, ElementType::bf16, 256, 16);
    const auto plan = paper.choices.find(problem);
    ASSERT_NE(plan, nullptr);
    EXPECT_LE(plan->workspace_bytes(), workspace_limit(problem));
  }
}

}  // namespace
}  // namespace voxswap::net::cuda
