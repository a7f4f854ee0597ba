// Three steps of training against PyTorch, with both optimisers, weight decay and clipped gradients, on
// classes that exclude one another: losses, norms and weights. The numbers and the script that made them:
// tests/fixtures/training_small.{safetensors,py}.
#include <gtest/gtest.h>

#include "net/backends/backends.h"
#include "net/steps/step.h"
#include "tests/net/safetensors.h"

namespace voxswap::net {
namespace {

const std::map<std::string, Tensor>& fixture(const char* name) {
  static std::map<std::string, std::map<std::string, Tensor>> files;
  const auto [found, fresh] = files.try_emplace(name);
  if (fresh) found->second = load_safetensors(fs::path(VOXSWAP_SOURCE_DIR) / "tests/fixtures" / name);
  return found->second;
}
const Tensor& network(const std::string& name) {
  return fixture("isensee2017_small.safetensors").at(name);
}
const Tensor& expected(const std::string& name) {
  return fixture("training_small.safetensors").at(name);
}

StepOptions options_for(ElementType type, Optimizer optimizer) {
  StepOptions options;
  options.network = {.name = "isensee2017", .base_filters = 4, .depth = 4, .dropout = 0};
  options.input = network("input").shape;
  options.outputs = 3;
  options.activations = type;
  options.loss = loss_options(Loss::softmax_dice_cross_entropy);
  options.optimizer = {.name = optimizer, .weight_decay = 0.01, .momentum = 0.9, .clip = 0.25};
  return options;
}

// Where PyTorch begins: the images, the network's weights, nothing known of steps before.
void begin(GraphRun& run, const TrainingStep& step) {
  run.set(step.input[0], network("input").values);
  run.set(step.target[0], expected("target").values);
  for (const ValueId id : step.parameters)
    run.set(id, network("parameter/" + step.graph.value(id).name).values);
  for (const ValueId id : step.optimizer_state)
    run.set(id, std::vector<double>(static_cast<std::size_t>(step.graph.value(id).shape.count()), 0.0));
}

struct Way {
  std::string backend;
  ElementType type;
  Optimizer optimizer;
  double tolerance;
};
std::string name_of(const Way& way) {
  return way.backend + "_" + std::string(element_name(way.type)) + "_" + choice_name(way.optimizer);
}
void PrintTo(const Way& way, std::ostream* out) {
  *out << name_of(way);
}

std::vector<Way> ways() {
  std::vector<Way> result;
  for (const std::string& backend : backend_names())
    for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::adam}) {
      if (backend == "reference") result.push_back({backend, ElementType::f64, optimizer, 1e-6});
      // Adam divides gradients by their own size: where they are nothing but rounding, steps are too.
      result.push_back({backend, ElementType::f32, optimizer, optimizer == Optimizer::sgd ? 1e-5 : 1e-3});
    }
  return result;
}

class ThreeSteps : public testing::TestWithParam<Way> {};

TEST_P(ThreeSteps, LearnAsInPyTorch) {
  const Way& way = GetParam();
  const TrainingStep step = build_training_step(options_for(way.type, way.optimizer));
  const auto backend = make_backend(way.backend);
  GraphRun run(step.graph, *backend);
  begin(run, step);

  const std::string prefix = choice_name(way.optimizer) + "/";
  const double rate = way.optimizer == Optimizer::sgd ? 0.05 : 0.002;
  for (std::uint64_t i = 0; i < 3; ++i) {
    run.run({.step = static_cast<std::int64_t>(i + 1), .learning_rate = rate});
    EXPECT_NEAR(run.get(step.loss)[0], expected(prefix + "losses").values[i], 10 * way.tolerance) << i;
  }
  std::size_t compared = 0;
  for (const ValueId id : step.trained) {
    const auto found = fixture("training_small.safetensors").find(prefix + step.graph.value(id).name);
    if (found == fixture("training_small.safetensors").end()) continue;
    EXPECT_LE(largest_difference(run.get(id), found->second.values), way.tolerance) << found->first;
    ++compared;
  }
  EXPECT_GT(compared, 40u);
}

INSTANTIATE_TEST_SUITE_P(Every, ThreeSteps, testing::ValuesIn(ways()),
                         [](const testing::TestParamInfo<Way>& way) { return name_of(way.param); });

TEST(ClippedGradients, AreThoseOfTheNormThatPyTorchFinds) {
  const TrainingStep step = build_training_step(options_for(ElementType::f64, Optimizer::sgd));
  const auto backend = make_backend("reference");
  GraphRun run(step.graph, *backend);
  begin(run, step);
  run.run({.learning_rate = 0});
  for (const Node& node : step.graph.nodes()) {
    if (node.operation->name != "clip_factor") continue;
    const double norm = expected("sgd/norms").values[0];
    EXPECT_NEAR(std::sqrt(run.get(node.inputs[0])[0]), norm, 1e-6);
    EXPECT_NEAR(run.get(node.outputs[0])[0], 0.25 / norm, 1e-6);
    return;
  }
  FAIL() << "nothing clips";
}

}  // namespace
}  // namespace voxswap::net
