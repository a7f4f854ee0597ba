// Compares the networks with published figures (ellisdg/3DUnetCNN), and tests errors for wrong options.
#include "net/networks/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "net/graph/graph.h"
#include "net/graph/operation.h"
#include "net/networks/networks.h"
#include "tests/expect.h"

namespace voxswap::net {
namespace {

using test::contains;

ForwardGraph network_of(const NetworkOptions& options, const Shape& input, std::int64_t outputs = 3) {
  return build_network(options, input, outputs, ElementType::f32, /*training=*/true);
}

// The error message, or an empty string.
std::string error_of(const NetworkOptions& options, const Shape& input, std::int64_t outputs = 3) {
  return test::error_of([&] { network_of(options, input, outputs); }, Exit::usage);
}

// For nnU-Net, as counted for PlainConvUNet and ResidualEncoderUNet of dynamic-network-architectures, without
// the heads of deep supervision.
TEST(Networks, OfVolumesHaveThePublishedNumberOfParameters) {
  const NetworkOptions unet = {.name = "unet3d", .base_filters = 32, .depth = 4};
  NetworkOptions nearest = unet, plain = {.name = "plain_unet", .base_filters = 32, .depth = 6}, flat = plain;
  nearest.upsampling = Upsampling::nearest;
  flat.kernels = {{3, 3, 1}, {3, 3, 3}};
  flat.strides = {{1, 1, 1}, {2, 2, 1}, {2, 2, 2}};
  std::vector<std::pair<NetworkOptions, std::int64_t>> published = {
      {{}, 8'269'561},
      {{.heads = Heads::normalized}, 8'269'579},
      {unet, 19'071'715},
      {nearest, 16'318'307},
      {plain, 31'196'675},
      {flat, 31'112'451},
      {{.name = "resenc_unet", .base_filters = 32, .depth = 6}, 102'350'851}};
  // Layers of k^3 weights per pair of channels, a bias per output, gamma and beta: stem, 2 per block, final
  // norm, head.
  const std::int64_t stem = 27 * 4 * 6 + 3 * 6, block = 2 * (27 * 6 * 6 + 3 * 6), head = 2 * 6 + 6 * 3 + 3;
  for (const std::int64_t depth : {1, 7, 40})
    published.push_back(
        {{.name = "resnet3d", .base_filters = 6, .depth = depth}, stem + depth * block + head});
  for (const auto& [options, parameters] : published)
    EXPECT_EQ(parameter_count(network_of(options, {1, 32, 32, 32, 4}).graph), parameters)
        << options.name << " of depth " << options.depth;
}

// Counts from torchvision's documentation of its weights (IMAGENET1K_V1), 1000 classes.
TEST(ResNets, HaveTheirPublishedNumbersOfParameters) {
  for (const auto& [name, parameters] : {std::pair{"resnet18", 11689512},
                                         {"resnet50", 25557032},
                                         {"resnet101", 44549160},
                                         {"resnet152", 60192808}}) {
    const ForwardGraph network = network_of({.name = name, .base_filters = 64}, {1, 1, 64, 64, 3}, 1000);
    std::int64_t count = 0;
    for (const ValueId id : network.trained) count += network.graph.value(id).shape.count();
    EXPECT_EQ(count, parameters) << name;
  }
}

TEST(ResNets, OfFiftyBottlenecksAreResNetOfOneHundredFiftyTwoLayers) {
  const Shape image = {1, 1, 64, 64, 3};
  const ForwardGraph published = network_of({.name = "resnet152", .base_filters = 8}, image),
                     deep = network_of({.name = "resnet", .base_filters = 8, .depth = 50}, image);
  ASSERT_EQ(published.graph.nodes().size(), deep.graph.nodes().size());
  for (std::size_t i = 0; i < deep.graph.nodes().size(); ++i)
    EXPECT_EQ(published.graph.nodes()[i].name, deep.graph.nodes()[i].name);
}

TEST(Networks, TakeSidesThatTheirStridesDivide) {
  const NetworkOptions any = {.name = "resnet3d", .base_filters = 2, .depth = 3};
  EXPECT_EQ(side_multiples(any), (Along{1, 1, 1}));
  const ForwardGraph network = network_of(any, {1, 5, 7, 9, 1}, 2);
  EXPECT_EQ(network.graph.value(network.logits).shape, (Shape{1, 5, 7, 9, 2}));
  const NetworkOptions flat = {
      .name = "plain_unet", .base_filters = 2, .depth = 4, .strides = {{1, 1, 1}, {2, 2, 1}, {2, 1, 2}}};
  EXPECT_EQ(side_multiples(flat), (Along{8, 2, 4}));
  EXPECT_EQ(error_of(flat, {1, 4, 6, 8, 1}), "");
  EXPECT_TRUE(contains(error_of(flat, {1, 6, 6, 8, 1}), "8 along x, 2 along y, 4 along z", "4x6x8 or 8x6x8"));
  EXPECT_TRUE(contains(error_of({}, {1, 100, 128, 130, 4}), "multiples of 16", "96x128x128 or 112x128x144"));
  EXPECT_TRUE(contains(error_of({}, {1, 10, 16, 16, 4}), "Use 16x16x16"));
}

// 84,072 multiply-adds per voxel, two operations each: a figure without the heads, which add 3 * (16 + 32 / 8
// + 64 / 64) = 63.
TEST(Isensee2017, TakesThePublishedArithmeticPerVoxel) {
  const Shape input = {1, 32, 48, 64, 4};
  const Graph graph = build_network({}, input, 3, ElementType::bf16, false).graph;
  double convolutions = 0, of_upsampled = 0, all = 0;
  for (const Node& node : graph.nodes()) {
    all += node_flops(graph, node);
    if (node.name.ends_with(".up.conv.phases")) {
      // Eight kernels of 2^3 taps on the small volume, plus a border of one voxel, instead of 3^3 on the
      // large one.
      const Shape& phases = graph.value(node.outputs[0]).shape;
      const double small = static_cast<double>((phases[1] - 1) * (phases[2] - 1) * (phases[3] - 1));
      const double border = static_cast<double>(phases[1] * phases[2] * phases[3]) / small;
      of_upsampled += node_flops(graph, node) * 27 / 8 / border;
    } else if (node.operation->name.starts_with("conv3d"))
      convolutions += node_flops(graph, node);
  }
  const double voxels = 32 * 48 * 64;
  EXPECT_DOUBLE_EQ((convolutions + of_upsampled) / voxels / 2, 84'072 + 63);
  EXPECT_LT(all / (convolutions + of_upsampled), 0.85) << "of which a fifth is saved, and the rest is small";
}

TEST(Isensee2017, NamesItsParametersAsTheReferenceDoes) {
  const ForwardGraph network = network_of({}, {1, 16, 16, 16, 4}, 3);
  std::vector<std::string> expected;
  const auto block = [&](const std::string& name) {
    for (const char* part : {"conv.weight", "conv.bias", "norm.weight", "norm.bias"})
      expected.push_back(name + "." + part);
  };
  for (int level : {0, 1, 2, 3, 4})
    for (const char* part : {"input", "context.0", "context.1"}) block(format("encoder.{}.{}", level, part));
  for (int level : {3, 2, 1, 0}) {
    for (const char* part : {"up", "localization.0", "localization.1"})
      block(format("decoder.{}.{}", level, part));
    if (level > 2) continue;
    expected.push_back(format("head.{}.conv.weight", level));
    expected.push_back(format("head.{}.conv.bias", level));
  }
  std::vector<std::string> names;
  for (ValueId id : network.parameters) names.push_back(network.graph.value(id).name);
  std::sort(names.begin(), names.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(names, expected);
}

TEST(Isensee2017, HasAHeadOnEveryDecoderLevelWhenItIsShallow) {
  for (const auto& [depth, heads] : {std::pair{2, 1}, {3, 2}, {4, 3}, {5, 3}}) {
    const ForwardGraph network =
        build_network({.depth = depth}, {1, 16, 16, 16, 1}, 2, ElementType::f32, false);
    const auto is_head = [&](ValueId id) { return network.graph.value(id).name.starts_with("head."); };
    EXPECT_EQ(std::count_if(network.parameters.begin(), network.parameters.end(), is_head), 2 * heads);
    EXPECT_EQ(network.graph.value(network.logits).shape, (Shape{1, 16, 16, 16, 2}));
  }
}

TEST(Networks, GiveLogitsInFullPrecision) {
  for (const std::string& name : network_names()) {
    NetworkOptions options = {
        .name = name, .base_filters = 4, .depth = std::max<std::int64_t>(3, network_depths(name).first)};
    for (const auto& [type, full] :
         {std::pair{ElementType::bf16, ElementType::f32}, {ElementType::f64, ElementType::f64}}) {
      const Shape image = {2, takes_images(name) ? 1 : 8, 4, 12, 2};
      const ForwardGraph network = build_network(options, image, 3, type, true);
      EXPECT_EQ(network.graph.value(network.logits).type, full);
      const Shape of_voxels = takes_images(name) ? Shape{2, 4, 1, 12, 3} : Shape{2, 8, 4, 12, 3};
      EXPECT_EQ(network.graph.value(network.logits).shape,
                classifies_images(name) ? Shape({2, 1, 1, 1, 3}) : of_voxels);
      for (ValueId id : network.parameters) EXPECT_EQ(network.graph.value(id).type, full);
    }
  }
}

// Whether only instance norms read a value, directly or through operations that preserve a constant offset.
bool only_normed(const Graph& graph, ValueId id) {
  bool normed = false;
  for (const Node& node : graph.nodes()) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != id) continue;
      const std::string_view reader = node.operation->name;
      const bool passed_on = (reader == "conv3d_sum" && i == 2) || reader == "interleave";
      normed = reader == "instance_norm_statistics" || (reader == "norm_activation" && i == 0) ||
               (passed_on && only_normed(graph, node.outputs[0]));
      if (!normed) return false;
    }
  }
  return normed;
}

std::vector<NetworkOptions> all_networks_of_volumes() {
  std::vector<NetworkOptions> result;
  for (const std::string& name : network_names())
    if (!takes_images(name)) result.push_back({.name = name, .depth = 3});
  result.push_back({.depth = 3, .heads = Heads::normalized});
  result.push_back({.name = "unet3d", .depth = 3, .upsampling = Upsampling::nearest});
  return result;
}

TEST(Networks, LeaveABiasOutExactlyWhereOnlyANormReadsWhatItIsAddedTo) {
  for (const NetworkOptions& options : all_networks_of_volumes()) {
    const ForwardGraph network = network_of(options, {1, 8, 8, 8, 2}, 3);
    for (const Node& node : network.graph.nodes()) {
      if (node.operation->name != "conv3d") continue;
      EXPECT_EQ(node.inputs.size(), only_normed(network.graph, node.outputs[0]) ? 2u : 3u)
          << options.name << " " << node.name;
    }
  }
}

TEST(Networks, TrainEveryParameterButBiasesThatANormTakesAway) {
  for (const NetworkOptions& options : all_networks_of_volumes()) {
    const ForwardGraph network = network_of(options, {1, 8, 8, 8, 2}, 3);
    std::set<std::string> left_out;
    for (const ValueId id : network.parameters) left_out.insert(network.graph.value(id).name);
    for (const ValueId id : network.trained) left_out.erase(network.graph.value(id).name);
    for (const std::string& name : left_out) {
      ASSERT_TRUE(name.ends_with(".conv.bias")) << name;
      const std::string block = name.substr(0, name.size() - std::string("conv.bias").size());
      EXPECT_TRUE(std::any_of(network.trained.begin(), network.trained.end(), [&](ValueId id) {
        return network.graph.value(id).name == block + "norm.bias";
      })) << name;
    }
  }
}

TEST(Networks, DropOutOnlyInTraining) {
  const auto dropouts = [](bool training, double rate) {
    const Graph graph =
        build_network({.dropout = rate}, {1, 16, 16, 16, 1}, 1, ElementType::f32, training).graph;
    std::set<std::int64_t> keys;
    for (const Node& node : graph.nodes())
      if (node.operation->name == "spatial_dropout_scale") keys.insert(node.attributes.integer("key"));
    return keys.size();
  };
  EXPECT_EQ(dropouts(true, 0.3), 5u) << "one per level, each with a key of its own";
  EXPECT_EQ(dropouts(true, 0), 0u);
  EXPECT_EQ(dropouts(false, 0.3), 0u);
}

TEST(Networks, RefuseWhatTheyDoNotKnowOrCannotHave) {
  const Shape input = {1, 16, 16, 16, 4};
  const auto levels = [](std::vector<Along> kernels, std::vector<Along> strides,
                         std::vector<double> deep = {}) {
    return NetworkOptions{.name = "resenc_unet",
                          .base_filters = 2,
                          .depth = 3,
                          .kernels = std::move(kernels),
                          .strides = std::move(strides),
                          .deep_supervision = std::move(deep)};
  };
  const Along one = {1, 1, 1}, two = {2, 2, 2}, three = {3, 3, 3};
  for (const NetworkOptions& good :
       {NetworkOptions{}, levels({one, three, three}, {one, two, two}), levels({}, {}, {1, 0.5})})
    EXPECT_EQ(error_of(good, input), "");
  EXPECT_EQ(error_of({}, input, 117), "");
  for (const auto& [bad, says] : std::vector<std::pair<NetworkOptions, const char*>>{
           {{.name = "isense2017"}, "Did you mean isensee2017?"},
           {{.base_filters = 0}, "network.base_filters"},
           {{.depth = 1}, "network.depth"},
           {{.depth = 9}, "isensee2017 supports 2 to 8, found 9"},
           {{.name = "resnet3d", .depth = 0}, "network.depth"},
           {{.name = "resnet3d", .depth = 2001}, "network.depth"},
           {{.name = "resnet", .depth = 14}, "network.depth"},
           {{.name = "resnet3d", .heads = Heads::normalized}, "network.heads"},
           {{.dropout = 1}, "network.dropout"},
           {{.slope = -0.1}, "network.slope"},
           {{.name = "isensee2017", .upsampling = Upsampling::nearest}, "network.upsampling"},
           {{.name = "resnet3d", .upsampling = Upsampling::nearest}, "network.upsampling"},
           {levels({two}, {}), "network.kernels: expected 1 or 3"},
           {levels({}, {one, three}), "network.strides: expected 1 or 2"},
           {levels({}, {two, two}), "the first level has full resolution"},
           {levels(std::vector<Along>(4, one), {}), "4 levels given"},
           {levels({}, {}, {1, 0.5, 0.25}), "at most 2 weights"},
           {levels({}, {}, {1, 0}), "expected weights above 0"},
           {{.name = "unet3d", .depth = 3, .deep_supervision = {1}},
            "training.deep_supervision: only plain_unet and resenc_unet"},
           {{.name = "unet3d", .depth = 3, .strides = {one}},
            "network.strides: only plain_unet and resenc_unet support it"}})
    EXPECT_TRUE(contains(error_of(bad, input), says)) << bad.name << " of depth " << bad.depth;
}

TEST(InitialValues, AreGlorotUniformForWeightsAndConstantOtherwise) {
  const ForwardGraph network = network_of({}, {1, 16, 16, 16, 4}, 3);
  for (std::size_t i = 0; i < network.parameters.size(); ++i) {
    const Value& parameter = network.graph.value(network.parameters[i]);
    const std::vector<float> values = initial_value(network.graph, network.parameters[i], i, 1);
    ASSERT_EQ(static_cast<std::int64_t>(values.size()), parameter.shape.count());
    if (parameter.shape.rank() == 1) {
      const float expected = ends_with(parameter.name, "norm.weight") ? 1 : 0;
      EXPECT_TRUE(std::all_of(values.begin(), values.end(), [&](float v) { return v == expected; }));
      continue;
    }
    const double kernel = static_cast<double>(parameter.shape[2] * parameter.shape[3] * parameter.shape[4]);
    const double limit =
        std::sqrt(6 / (kernel * static_cast<double>(parameter.shape[0] + parameter.shape[1])));
    double sum = 0, squares = 0;
    float largest = 0;
    for (float v : values) {
      largest = std::max(largest, std::abs(v));
      sum += v;
      squares += static_cast<double>(v) * v;
    }
    EXPECT_LE(largest, static_cast<float>(limit)) << parameter.name;
    if (values.size() < 1000) continue;  // too few for their moments to be close to those of the distribution
    const double n = static_cast<double>(values.size()), deviation = limit / std::sqrt(3);
    EXPECT_LT(std::abs(sum / n), 6 * deviation / std::sqrt(n)) << parameter.name;
    EXPECT_NEAR(squares / n, deviation * deviation, 0.15 * deviation * deviation) << parameter.name;
  }
}

TEST(InitialValues, DependOnSeedAndPositionOnly) {
  const ForwardGraph network = network_of({}, {1, 16, 16, 16, 4}, 3);
  const ValueId weight = network.parameters[0];
  EXPECT_EQ(initial_value(network.graph, weight, 0, 5), initial_value(network.graph, weight, 0, 5));
  EXPECT_NE(initial_value(network.graph, weight, 0, 5), initial_value(network.graph, weight, 0, 6));
  EXPECT_NE(initial_value(network.graph, weight, 0, 5), initial_value(network.graph, weight, 1, 5));
}

TEST(NetworksOfImages, TakeVolumesOfOnePlaneAlone) {
  for (const std::string name : {"resnet18", "resnet50", "deeplabv3"}) {
    EXPECT_TRUE(contains(error_of({.name = name}, {1, 2, 64, 64, 3}), name + " takes 2D images"));
    EXPECT_EQ(error_of({.name = name}, {1, 1, 65, 50, 3}), "");
  }
}

TEST(Networks, RefuseAnOutputStrideWhereThereIsNone) {
  for (const std::string& name : network_names()) {
    const Shape image = {1, takes_images(name) ? 1 : 32, 32, 32, 4};
    const std::int64_t depth = std::max<std::int64_t>(2, network_depths(name).first);
    const std::string error =
        error_of({.name = name, .depth = depth, .output_stride = OutputStride::eight}, image);
    EXPECT_EQ(error.empty(), name == "deeplabv3") << name << ": " << error;
  }
}

// Chen et al. 2017: the last stages are dilated so that feature maps are a sixteenth, or an eighth, of the
// image.
TEST(DeepLabV3, ReadsFeatureMapsOfItsOutputStride) {
  for (const auto& [stride, side, rates] :
       {std::tuple{OutputStride::sixteen, 5, std::set<std::int64_t>{1, 2, 6, 12, 18}},
        {OutputStride::eight, 9, {1, 2, 4, 12, 24, 36}}}) {
    const NetworkOptions options = {.name = "deeplabv3", .base_filters = 4, .output_stride = stride};
    const ForwardGraph network = network_of(options, {1, 1, 65, 65, 3}, 3);
    std::set<std::int64_t> dilations;
    for (const Node& node : network.graph.nodes()) {
      if (node.operation->name == "average_pool") {
        EXPECT_EQ(network.graph.value(node.inputs[0]).shape, (Shape{1, side, 1, side, 128}));
      }
      if (node.operation->name == "conv3d") dilations.insert(node.attributes.integer_or("dilation", 1));
    }
    EXPECT_EQ(dilations, rates);
  }
}

}  // namespace
}  // namespace voxswap::net
