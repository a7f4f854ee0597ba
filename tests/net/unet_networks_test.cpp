// Small U-Nets against PyTorch: probabilities, the loss, and the gradient of every parameter, through the
// training step that is trained with. The numbers and the script that made them:
// tests/fixtures/{plain_unet,resenc_unet,unet3d,unet3d_nearest}_small.safetensors, unet_networks.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "net/backends/backends.h"
#include "net/graph/operation.h"
#include "net/networks/networks.h"
#include "net/steps/step.h"
#include "tests/net/safetensors.h"

namespace voxswap::net {
namespace {

using Fixture = std::map<std::string, Tensor>;

const Fixture& fixture(const std::string& name) {
  static std::map<std::string, Fixture> files;
  const auto [found, fresh] = files.try_emplace(name);
  if (fresh)
    found->second =
        load_safetensors(fs::path(VOXSWAP_SOURCE_DIR) / "tests/fixtures" / (name + "_small.safetensors"));
  return found->second;
}

// The networks that the script writes; kernels and strides along x, y, z.
NetworkOptions network_of(const std::string& name) {
  if (name == "plain_unet")
    return {.name = name,
            .base_filters = 3,
            .max_filters = 8,
            .depth = 4,
            .slope = 0.01,
            .kernels = {{3, 3, 1}, {3, 3, 3}},
            .strides = {{1, 1, 1}, {2, 2, 1}, {2, 2, 2}, {2, 2, 1}}};
  if (name == "resenc_unet")
    return {.name = name,
            .base_filters = 2,
            .max_filters = 6,
            .depth = 4,
            .slope = 0.01,
            .kernels = {{3, 3, 1}, {3, 3, 1}, {3, 3, 3}},
            .strides = {{1, 1, 1}, {2, 2, 1}, {2, 2, 2}}};
  const bool nearest = name == "unet3d_nearest";
  return {.name = "unet3d",
          .base_filters = 2,
          .depth = 3,
          .upsampling = nearest ? Upsampling::nearest : Upsampling::transposed};
}

StepOptions options_for(const std::string& name, ElementType type) {
  StepOptions options;
  options.network = network_of(name);
  options.input = fixture(name).at("input").shape;
  options.outputs = fixture(name).at("probabilities").shape[-1];
  options.activations = type;
  options.loss = loss_options(Loss::softmax_dice_cross_entropy);
  return options;
}

struct Way {
  std::string network, backend;
  ElementType type;
  double tolerance;  // relative to the largest magnitude of a tensor
};
std::string name_of(const Way& way) {
  return way.network + "_" + way.backend + "_" + std::string(element_name(way.type));
}
void PrintTo(const Way& way, std::ostream* out) {
  *out << name_of(way);
}

std::vector<Way> ways(const std::vector<std::string>& networks) {
  std::vector<Way> result;
  for (const std::string& network : networks)
    for (const std::string& backend : backend_names()) {
      if (backend == "reference") result.push_back({network, backend, ElementType::f64, 2e-6});
      result.push_back({network, backend, ElementType::f32, 2e-3});
    }
  return result;
}

template <class Step>
void begin(GraphRun& run, const Step& step, const Fixture& file) {
  run.set(step.input[0], file.at("input").values);
  run.set(step.target[0], file.at("target").values);
  for (const ValueId id : step.parameters) {
    const Value& parameter = step.graph.value(id);
    ASSERT_TRUE(file.contains("parameter/" + parameter.name)) << parameter.name;
    const Tensor& tensor = file.at("parameter/" + parameter.name);
    ASSERT_EQ(parameter.shape, tensor.shape) << parameter.name;
    run.set(id, tensor.values);
  }
}

class SmallUnet : public testing::TestWithParam<Way> {};

// `loss`: last, or deep, with nnU-Net's weights at three levels.
void expect_gradients(const Way& way, const std::string& loss) {
  const Fixture& file = fixture(way.network);
  StepOptions options = options_for(way.network, way.type);
  if (loss == "deep") options.network.deep_supervision = {1, 0.5, 0.25};
  const TrainingStep step = build_training_step(options);
  const auto backend = make_backend(way.backend);
  GraphRun run(step.graph, *backend);
  begin(run, step, file);
  for (const ValueId id : step.optimizer_state)
    run.set(id, std::vector<double>(static_cast<std::size_t>(step.graph.value(id).shape.count()), 0.0));
  run.run({.learning_rate = 0});

  EXPECT_NEAR(run.get(step.loss)[0], file.at("loss/" + loss).values[0], way.tolerance);
  std::size_t compared = 0;
  for (const Node& node : step.graph.nodes()) {
    if (node.operation->name != "adam") continue;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const std::string& name = step.graph.value(node.updates[3 * i]).name;
      const Tensor& gradient = file.at("gradient/" + loss + "/" + name);
      EXPECT_LE(largest_difference(run.get(node.inputs[i]), gradient.values),
                way.tolerance * largest(gradient.values))
          << name;
      ++compared;
    }
  }
  EXPECT_EQ(compared, step.trained.size());
}

TEST_P(SmallUnet, LearnsAsInPyTorch) {
  expect_gradients(GetParam(), "last");
}

class SmallDeepUnet : public testing::TestWithParam<Way> {};

TEST_P(SmallDeepUnet, LearnsFromLossesOfSeveralLevelsAsInPyTorch) {
  expect_gradients(GetParam(), "deep");
}

TEST_P(SmallUnet, PredictsAsInPyTorch) {
  const Way& way = GetParam();
  const Fixture& file = fixture(way.network);
  const InferenceStep step = build_inference_step(options_for(way.network, way.type), /*with_loss=*/true);
  const auto backend = make_backend(way.backend);
  GraphRun run(step.graph, *backend);
  begin(run, step, file);
  run.run({});
  EXPECT_LE(largest_difference(run.get(step.probabilities[0]), file.at("probabilities").values),
            way.tolerance);
  EXPECT_NEAR(run.get(step.loss)[0], file.at("loss/last").values[0], way.tolerance);
}

INSTANTIATE_TEST_SUITE_P(Every, SmallUnet,
                         testing::ValuesIn(ways({"plain_unet", "resenc_unet", "unet3d", "unet3d_nearest"})),
                         [](const testing::TestParamInfo<Way>& way) { return name_of(way.param); });
INSTANTIATE_TEST_SUITE_P(Every, SmallDeepUnet, testing::ValuesIn(ways({"plain_unet", "resenc_unet"})),
                         [](const testing::TestParamInfo<Way>& way) { return name_of(way.param); });

std::int64_t parameters(const NetworkOptions& options) {
  return parameter_count(build_network(options, {1, 32, 32, 32, 4}, 3, ElementType::f32, false).graph);
}

// As PlainConvUNet and ResidualEncoderUNet of dynamic-network-architectures count, without the heads of deep
// supervision.
TEST(NnunetNetworks, HaveThePublishedNumberOfParameters) {
  EXPECT_EQ(parameters({.name = "plain_unet", .base_filters = 32, .depth = 6}), 31'196'675);
  EXPECT_EQ(parameters({.name = "plain_unet",
                        .base_filters = 32,
                        .depth = 6,
                        .kernels = {{3, 3, 1}, {3, 3, 3}},
                        .strides = {{1, 1, 1}, {2, 2, 1}, {2, 2, 2}}}),
            31'112'451);
  EXPECT_EQ(parameters({.name = "resenc_unet", .base_filters = 32, .depth = 6}), 102'350'851);
}

std::string error_of(const NetworkOptions& options, const Shape& input) {
  try {
    build_network(options, input, 3, ElementType::f32, true);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::usage);
    return error.what();
  }
  return "";
}

TEST(NnunetNetworks, TakeSidesThatTheirStridesDivide) {
  const NetworkOptions flat = {
      .name = "plain_unet", .base_filters = 2, .depth = 4, .strides = {{1, 1, 1}, {2, 2, 1}, {2, 1, 2}}};
  EXPECT_EQ(side_multiples(flat), (Along{8, 2, 4}));
  EXPECT_EQ(error_of(flat, {1, 4, 6, 8, 1}), "");
  const std::string message = error_of(flat, {1, 6, 6, 8, 1});
  EXPECT_THAT(message, testing::HasSubstr("8 along x, 2 along y, 4 along z"));
  EXPECT_THAT(message, testing::HasSubstr("4x6x8 or 8x6x8"));
}

TEST(NnunetNetworks, RefuseLevelsThatTheyCannotHave) {
  const Shape input = {1, 16, 16, 16, 1};
  const auto with = [](std::vector<Along> kernels, std::vector<Along> strides) {
    return NetworkOptions{.name = "resenc_unet",
                          .base_filters = 2,
                          .depth = 3,
                          .kernels = std::move(kernels),
                          .strides = std::move(strides)};
  };
  const Along one = {1, 1, 1}, two = {2, 2, 2}, three = {3, 3, 3};
  EXPECT_EQ(error_of(with({one, three, three}, {one, two, two}), input), "");
  EXPECT_THAT(error_of(with({two}, {}), input), testing::HasSubstr("network.kernels: expected 1 or 3"));
  EXPECT_THAT(error_of(with({}, {one, three}), input),
              testing::HasSubstr("network.strides: expected 1 or 2"));
  EXPECT_THAT(error_of(with({}, {two, two}), input),
              testing::HasSubstr("the first level has full resolution"));
  EXPECT_THAT(error_of(with(std::vector<Along>(4, one), {}), input), testing::HasSubstr("4 levels given"));
  NetworkOptions deep = with({}, {});
  deep.deep_supervision = {1, 0.5};
  EXPECT_EQ(error_of(deep, input), "");
  deep.deep_supervision = {1, 0.5, 0.25};
  EXPECT_THAT(error_of(deep, input), testing::HasSubstr("2 levels have logits"));
  deep.deep_supervision = {1, 0};
  EXPECT_THAT(error_of(deep, input), testing::HasSubstr("expected weights above 0"));
  EXPECT_THAT(error_of({.name = "unet3d", .depth = 3, .deep_supervision = {1}}, input),
              testing::HasSubstr("training.deep_supervision: only plain_unet and resenc_unet"));
  EXPECT_THAT(error_of({.name = "unet3d", .depth = 3, .strides = {one}}, input),
              testing::HasSubstr("network.strides: only plain_unet and resenc_unet support it"));
}

}  // namespace
}  // namespace voxswap::net
