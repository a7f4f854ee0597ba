// ResNets and DeepLabV3 against torchvision: predictions, loss, the gradient of every parameter and the
// running statistics, with its names of parameters. The numbers and the script that made them:
// tests/fixtures/{resnet18,resnet50,deeplabv3}_small.safetensors, tests/fixtures/image_networks.py.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "net/backends/backends.h"
#include "net/networks/networks.h"
#include "net/steps/step.h"
#include "tests/net/safetensors.h"

namespace voxswap::net {
namespace {

using Fixture = std::map<std::string, Tensor>;

const Fixture& fixture_of(const std::string& network) {
  static std::map<std::string, Fixture> loaded;
  Fixture& fixture = loaded[network];
  if (fixture.empty())
    fixture =
        load_safetensors(fs::path(VOXSWAP_SOURCE_DIR) / "tests/fixtures" / (network + "_small.safetensors"));
  return fixture;
}

struct Way {
  std::string network, output_stride, backend;
  ElementType type;
  double tolerance;  // relative to the largest magnitude of a tensor
};

std::string name_of(const Way& way) {
  return format("{}_{}_{}_{}", way.network, way.output_stride, way.backend, element_name(way.type));
}
void PrintTo(const Way& way, std::ostream* out) {
  *out << name_of(way);
}

StepOptions options_for(const Way& way) {
  const Fixture& fixture = fixture_of(way.network);
  StepOptions options;
  options.network = {.name = way.network, .base_filters = 2, .dropout = 0};
  if (way.output_stride == "8") options.network.output_stride = OutputStride::eight;
  options.input = fixture.at("input").shape;
  options.outputs = fixture.at(way.output_stride + "/predicted").shape[-1];
  options.activations = way.type;
  options.loss = loss_options(Loss::softmax_cross_entropy);
  return options;
}

// torchvision's weights of images are O,I,H,W, and O,I of a dense layer; here rows are planes.
Shape as_volume(const Shape& shape) {
  if (shape.rank() == 4) return {shape[0], shape[1], shape[2], 1, shape[3]};
  if (shape.rank() == 2) return {shape[0], shape[1], 1, 1, 1};
  return shape;
}

void set_parameters(GraphRun& run, const Graph& graph, const std::vector<ValueId>& parameters,
                    const Fixture& fixture) {
  std::size_t expected = 0;
  for (const auto& [name, tensor] : fixture) expected += name.starts_with("parameter/");
  EXPECT_EQ(parameters.size(), expected);
  for (const ValueId id : parameters) {
    const Tensor& tensor = fixture.at("parameter/" + graph.value(id).name);
    ASSERT_EQ(graph.value(id).shape, as_volume(tensor.shape)) << graph.value(id).name;
    run.set(id, tensor.values);
  }
}

std::vector<Way> ways() {
  std::vector<Way> result;
  for (const auto& [network, stride] :
       {std::pair{"resnet18", "32"}, {"resnet50", "32"}, {"deeplabv3", "8"}, {"deeplabv3", "16"}}) {
    for (const std::string& backend : backend_names()) {
      if (backend == "reference") {
        result.push_back({network, stride, backend, ElementType::f64, 2e-6});
      } else {
        result.push_back({network, stride, backend, ElementType::f32, 2e-3});
      }
    }
  }
  return result;
}

class ImageNetworks : public testing::TestWithParam<Way> {};

TEST_P(ImageNetworks, LearnAsInTorchvision) {
  const Way& way = GetParam();
  const Fixture& fixture = fixture_of(way.network);
  const auto expected = [&](const std::string& name) -> const Tensor& {
    return fixture.at(way.output_stride + "/" + name);
  };
  const TrainingStep step = build_training_step(options_for(way));
  const auto backend = make_backend(way.backend);
  GraphRun run(step.graph, *backend);
  run.set(step.input[0], fixture.at("input").values);
  run.set(step.target[0], fixture.at("target").values);
  set_parameters(run, step.graph, step.parameters, fixture);
  for (const ValueId id : step.optimizer_state)
    run.set(id, std::vector<double>(static_cast<std::size_t>(step.graph.value(id).shape.count()), 0.0));
  run.run({.learning_rate = 0});

  EXPECT_NEAR(run.get(step.loss)[0], expected("loss").values[0], way.tolerance);
  std::size_t compared = 0, running = 0;
  for (const Node& node : step.graph.nodes()) {
    for (std::size_t i = 0; node.operation->name == "adam" && i < node.inputs.size(); ++i) {
      const std::string& name = step.graph.value(node.updates[3 * i]).name;
      const Tensor& gradient = expected("gradient/" + name);
      EXPECT_LE(largest_difference(run.get(node.inputs[i]), gradient.values),
                way.tolerance * largest(gradient.values))
          << name;
      ++compared;
    }
    for (const ValueId id : node.updates) {
      if (node.operation->name != "running_statistics_update") continue;
      const Tensor& tensor = expected("running/" + step.graph.value(id).name);
      EXPECT_LE(largest_difference(run.get(id), tensor.values), way.tolerance * largest(tensor.values))
          << step.graph.value(id).name;
      ++running;
    }
  }
  EXPECT_EQ(compared, step.trained.size());
  EXPECT_EQ(compared + running, step.parameters.size());
}

TEST_P(ImageNetworks, PredictAsInTorchvision) {
  const Way& way = GetParam();
  const Fixture& fixture = fixture_of(way.network);
  const InferenceStep step = build_inference_step(options_for(way), /*with_loss=*/false);
  const auto backend = make_backend(way.backend);
  GraphRun run(step.graph, *backend);
  run.set(step.input[0], fixture.at("input").values);
  set_parameters(run, step.graph, step.parameters, fixture);
  run.run({});
  const Tensor& predicted = fixture.at(way.output_stride + "/predicted");
  const Shape& image = predicted.shape;  // N,1,H,W,C
  EXPECT_EQ(step.graph.value(step.probabilities[0]).shape,
            (Shape{image[0], image[2], 1, image[3], image[4]}));
  EXPECT_LE(largest_difference(run.get(step.probabilities[0]), predicted.values), way.tolerance);
}

INSTANTIATE_TEST_SUITE_P(Every, ImageNetworks, testing::ValuesIn(ways()),
                         [](const testing::TestParamInfo<Way>& parameter) {
                           return name_of(parameter.param);
                         });

// Counts of torchvision's documentation of its weights (IMAGENET1K_V1), 1000 classes.
TEST(ResNets, HaveTheirPublishedNumbersOfParameters) {
  for (const auto& [name, parameters] : {std::pair{"resnet18", 11689512},
                                         {"resnet50", 25557032},
                                         {"resnet101", 44549160},
                                         {"resnet152", 60192808}}) {
    const ForwardGraph network = build_network({.name = name, .base_filters = 64}, {1, 1, 64, 64, 3}, 1000,
                                               ElementType::f32, /*training=*/true);
    std::int64_t count = 0;
    for (const ValueId id : network.trained) count += network.graph.value(id).shape.count();
    EXPECT_EQ(count, parameters) << name;
  }
}

TEST(ResNets, OfFiftyBottlenecksAreResNetOfOneHundredFiftyTwoLayers) {
  const Shape image = {1, 1, 64, 64, 3};
  const ForwardGraph published = build_network({.name = "resnet152", .base_filters = 8}, image, 4,
                                               ElementType::f32, true),
                     deep = build_network({.name = "resnet", .base_filters = 8, .depth = 50}, image, 4,
                                          ElementType::f32, true);
  ASSERT_EQ(published.graph.nodes().size(), deep.graph.nodes().size());
  for (std::size_t i = 0; i < deep.graph.nodes().size(); ++i)
    EXPECT_EQ(published.graph.nodes()[i].name, deep.graph.nodes()[i].name);
  EXPECT_THROW(build_network({.name = "resnet", .depth = 14}, image, 4, ElementType::f32, true), Error);
}

}  // namespace
}  // namespace voxswap::net
