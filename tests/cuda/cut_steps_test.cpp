// Steps at 512^3 and 768^3 in automatic slabs, on GPUs that are not present: cuDNN has tensor core engines
// for all of their convolutions, including those that windows over slabs are divided into.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "net/backends/cuda/convolution_problem.h"
#include "net/steps/step.h"
#include "tests/cuda/paper_devices.h"

namespace voxswap::net::cuda {
namespace {

using Problem = ConvolutionProblem;

struct Asked {
  std::string node;  // the first one with this problem
  Problem problem;
};
using Problems = std::map<std::string, Asked>;

Problems problems_of_step(const std::string& network, std::int64_t side, ElementType type) {
  StepOptions options;
  options.network.name = network;
  options.network.depth = network == "isensee2017" ? 5 : 4;
  options.input = {1, side, side, side, 4};
  options.voxel_alignment = voxel_alignment;
  options.activations = type;
  options.slabs = automatic_slabs;
  const TrainingStep step = build_training_step(options);
  Problems problems;
  for (const Node& node : step.graph.nodes())
    for (const Problem& problem : convolution_problems(step.graph, node))
      if (!is_matrix_product(problem)) problems.try_emplace(problem.text(), Asked{node.name, problem});
  return problems;
}

struct Card {
  const PaperDevice* device;
  ElementType type;
};
std::string card_name(const testing::TestParamInfo<Card>& info) {
  const std::string name = info.param.device->name.substr(info.param.device->name.find(' ') + 1);
  return name +
         (info.param.type == ElementType::f32 ? "_tf32" : "_" + std::string(element_name(info.param.type)));
}

class CutSteps : public WithCudnn, public testing::WithParamInterface<Card> {};

TEST_P(CutSteps, UseTensorCoresForEveryConvolution) {
  OnPaper paper(*GetParam().device, /*deterministic=*/true, /*tensor_floats=*/true);
  for (const auto& [network, sides] : {std::pair("isensee2017", std::vector<std::int64_t>{512, 768}),
                                       std::pair("unet3d", std::vector<std::int64_t>{768})})
    for (const std::int64_t side : sides) {
      const Problems problems = problems_of_step(network, side, GetParam().type);
      EXPECT_GT(problems.size(), 100u) << "those of windows as well";
      for (const auto& [text, asked] : problems) {
        const auto plan = paper.choices.find(asked.problem);
        ASSERT_NE(plan, nullptr) << asked.node << ": " << text;
        EXPECT_TRUE(plan->tensor_cores)
            << network << " " << side << "^3 " << asked.node << ": " << text << ": " << plan->name;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(On, CutSteps,
                         testing::Values(Card{&t4, ElementType::f16}, Card{&a100, ElementType::bf16},
                                         Card{&a100, ElementType::f32}, Card{&h200, ElementType::f16},
                                         Card{&b200, ElementType::bf16}, Card{&b200, ElementType::f32}),
                         card_name);

}  // namespace
}  // namespace voxswap::net::cuda
