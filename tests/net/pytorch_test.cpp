// A small isensee2017 against PyTorch: probabilities, both losses, and the gradient of every parameter,
// through the training step that is trained with. The numbers and the script that made them:
// tests/fixtures/isensee2017_small.{safetensors,py}.
#include <gtest/gtest.h>

#include <cmath>

#include "net/backends/backends.h"
#include "net/steps/step.h"
#include "tests/net/safetensors.h"

namespace voxswap::net {
namespace {

const std::map<std::string, Tensor>& fixture() {
  static const auto tensors =
      load_safetensors(fs::path(VOXSWAP_SOURCE_DIR) / "tests/fixtures/isensee2017_small.safetensors");
  return tensors;
}

const Tensor& expected(const std::string& name) {
  return fixture().at(name);
}

StepOptions options_for(ElementType type, Loss loss) {
  StepOptions options;
  options.network = {.name = "isensee2017", .base_filters = 4, .depth = 4, .dropout = 0};
  options.input = expected("input").shape;
  options.outputs = expected("probabilities").shape[-1];
  options.activations = type;
  options.loss = loss_options(loss);
  return options;
}

void set_parameters(GraphRun& run, const Graph& graph, const std::vector<ValueId>& parameters) {
  for (ValueId id : parameters) {
    const Tensor& tensor = expected("parameter/" + graph.value(id).name);
    ASSERT_EQ(graph.value(id).shape, tensor.shape) << graph.value(id).name;
    run.set(id, tensor.values);
  }
}

struct Way {
  std::string backend;
  ElementType type;
  Loss loss;
  double tolerance;  // relative to the largest magnitude of a tensor
};

std::string name_of(const Way& way) {
  return way.backend + "_" + std::string(element_name(way.type)) + "_" + choice_name(way.loss);
}
void PrintTo(const Way& way, std::ostream* out) {
  *out << name_of(way);
}

std::vector<Way> ways() {
  std::vector<Way> result;
  for (const std::string& backend : backend_names()) {
    for (const Loss loss : {Loss::weighted_dice, Loss::dice_cross_entropy}) {
      if (backend == "reference") result.push_back({backend, ElementType::f64, loss, 2e-6});
      result.push_back({backend, ElementType::f32, loss, 1e-3});
    }
  }
  return result;
}

class SmallIsensee2017 : public testing::TestWithParam<Way> {};

TEST_P(SmallIsensee2017, LearnsAsInPyTorch) {
  const Way& way = GetParam();
  const TrainingStep step = build_training_step(options_for(way.type, way.loss));
  const auto backend = make_backend(way.backend);
  GraphRun run(step.graph, *backend);
  run.set(step.input[0], expected("input").values);
  run.set(step.target[0], expected("target").values);
  set_parameters(run, step.graph, step.parameters);
  for (ValueId id : step.optimizer_state) {
    run.set(id, std::vector<double>(static_cast<std::size_t>(step.graph.value(id).shape.count()), 0.0));
  }
  run.run({.learning_rate = 0});

  EXPECT_NEAR(run.get(step.loss)[0], expected("loss/" + choice_name(way.loss)).values[0], way.tolerance);
  std::vector<double> probabilities = run.get(step.logits[0]);
  for (double& p : probabilities) p = 1 / (1 + std::exp(-p));
  EXPECT_LE(largest_difference(probabilities, expected("probabilities").values), way.tolerance);

  std::size_t compared = 0;
  for (const Node& node : step.graph.nodes()) {
    if (node.operation->name != "adam") continue;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const std::string& name = step.graph.value(node.updates[3 * i]).name;
      const std::string prefix = "gradient/" + choice_name(way.loss) + "/";
      const Tensor& gradient = expected(prefix + name);
      const double scale = largest(gradient.values);
      EXPECT_LE(largest_difference(run.get(node.inputs[i]), gradient.values), way.tolerance * scale) << name;
      ++compared;
    }
  }
  EXPECT_EQ(compared, step.trained.size());
}

// What the fixture's losses say of a parameter that is not trained here, beside the weights of its
// convolution.
TEST(SmallIsensee2017Biases, ThatAreNotTrainedHaveNoGradientInPyTorchEither) {
  const TrainingStep step = build_training_step(options_for(ElementType::f32, Loss::weighted_dice));
  std::size_t parameters = 0;
  for (const auto& [name, tensor] : fixture()) parameters += name.starts_with("parameter/");
  EXPECT_EQ(step.parameters.size(), parameters) << "checkpoints hold all of them";
  std::size_t untrained = 0;
  for (const ValueId id : step.parameters) {
    if (std::count(step.trained.begin(), step.trained.end(), id) > 0) continue;
    const std::string& name = step.graph.value(id).name;
    ++untrained;
    EXPECT_GT(largest(expected("parameter/" + name).values), 0) << name;
    for (const std::string loss : {"weighted_dice", "dice_cross_entropy"}) {
      const std::string prefix = "gradient/" + loss + "/" + name.substr(0, name.size() - 4);
      EXPECT_LT(largest(expected(prefix + "bias").values),
                1e-12 * largest(expected(prefix + "weight").values))
          << name;
    }
  }
  EXPECT_EQ(untrained, 21u) << "three blocks on each of four levels and three of decoders";
}

INSTANTIATE_TEST_SUITE_P(Every, SmallIsensee2017, testing::ValuesIn(ways()),
                         [](const testing::TestParamInfo<Way>& way) { return name_of(way.param); });

TEST(SmallIsensee2017Inference, PredictsAsInPyTorchOnEveryBackend) {
  for (const std::string& name : backend_names()) {
    const InferenceStep step =
        build_inference_step(options_for(ElementType::f32, Loss::weighted_dice), /*with_loss=*/true);
    const auto backend = make_backend(name);
    GraphRun run(step.graph, *backend);
    run.set(step.input[0], expected("input").values);
    run.set(step.target[0], expected("target").values);
    set_parameters(run, step.graph, step.parameters);
    run.run({});
    EXPECT_LE(largest_difference(run.get(step.probabilities[0]), expected("probabilities").values), 1e-3)
        << name;
    EXPECT_NEAR(run.get(step.loss)[0], expected("loss/weighted_dice").values[0], 1e-3) << name;
  }
}

}  // namespace
}  // namespace voxswap::net
