// Compares exported ONNX graphs with our networks. The interpreter used here is itself checked against ONNX
// Runtime: tests/fixtures/onnx_runtime.{safetensors,py}.
#include "pipeline/export/onnx_graph.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "net/backends/backends.h"
#include "net/steps/step.h"
#include "tests/expect.h"
#include "tests/net/every_network.h"
#include "tests/net/pytorch.h"
#include "tests/pipeline/onnx_interpreter.h"

namespace voxswap::pipeline {
namespace {

using Interpreted = OnnxInterpreter::Value;
using Integers = std::vector<std::int64_t>;

struct Small {
  net::NetworkOptions options;
  Shape input;
  std::int64_t outputs = 3;
  bool softmax = false;

  bool images() const { return net::takes_images(options.name); }
  OnnxOptions onnx() const {
    return {.images = images(), .classifies = net::classifies_images(options.name), .softmax = softmax};
  }
  net::ForwardGraph of_batch(std::int64_t samples) const {
    Shape shape = input;
    shape[0] = samples;
    return net::build_network(options, shape, outputs, net::ElementType::f32, /*training=*/false);
  }
  OnnxGraph exported(const std::vector<Tensor>& weights) const {
    return onnx_graph(of_batch(1), weights, onnx());
  }
};

// N,D,H,W,C -> N,C,D,H,W, without D for images.
Interpreted channels_first(const Shape& shape, const std::vector<double>& numbers, bool images) {
  Interpreted value{{shape[0], shape[4], shape[1], shape[2], shape[3]}, std::vector<double>(numbers.size())};
  const std::int64_t voxels = shape[1] * shape[2] * shape[3];
  for (std::int64_t n = 0; n < shape[0]; ++n)
    for (std::int64_t v = 0; v < voxels; ++v)
      for (std::int64_t c = 0; c < shape[4]; ++c)
        value.numbers[static_cast<std::size_t>((n * shape[4] + c) * voxels + v)] =
            numbers[static_cast<std::size_t>((n * voxels + v) * shape[4] + c)];
  if (images) value.sides.erase(value.sides.begin() + 2);
  return value;
}

std::vector<double> random_image(const Shape& shape) {
  return net::fill_values(net::Fill::normal, shape.count(), 5);
}

// Norms and biases differ from the zeros and ones of an untrained network; the scales of norms are small
// because hundreds of layers accumulate.
std::vector<Tensor> random_weights(const net::ForwardGraph& network) {
  std::vector<Tensor> weights;
  for (std::size_t i = 0; i < network.parameters.size(); ++i) {
    const net::Value& value = network.graph.value(network.parameters[i]);
    Tensor tensor{value.name, value.shape, net::initial_value(network.graph, network.parameters[i], i, 3)};
    const std::vector<double> noise = net::fill_values(net::Fill::positive, value.shape.count(), 100 + i);
    for (std::size_t k = 0; value.shape.rank() == 1 && k < noise.size(); ++k)
      tensor.values[k] = 0.4F * tensor.values[k] + static_cast<float>(0.3 * noise[k]);
    weights.push_back(std::move(tensor));
  }
  return weights;
}

std::vector<double> our_probabilities(const Small& small, const Shape& shape,
                                      const std::vector<Tensor>& weights, const std::vector<double>& image) {
  net::ForwardGraph network = small.of_batch(shape[0]);
  const net::ValueId probabilities =
      network.graph.apply(small.softmax ? "softmax" : "sigmoid", "probabilities", {network.logits});
  const auto backend = net::make_backend("reference");
  net::GraphRun run(network.graph, *backend);
  run.set(network.input, image);
  for (const net::ValueId id : network.parameters)
    for (const Tensor& tensor : weights)
      if (tensor.name == network.graph.value(id).name)
        run.set(id, std::vector<double>(tensor.values.begin(), tensor.values.end()));
  run.run({});
  return run.get(probabilities);
}

Small small_network(const std::string& name) {
  Small small;
  small.options = {
      .name = name, .base_filters = 2, .depth = std::max<std::int64_t>(2, net::network_depths(name).first)};
  small.input = net::takes_images(name) ? Shape{2, 1, 33, 40, 3} : Shape{2, 8, 4, 12, 3};
  small.softmax = net::takes_images(name);
  return small;
}

TEST(OnnxGraph, OfEveryNetworkSaysWhatTheNetworkSays) {
  std::vector<Small> all;
  for (const std::string& name : net::network_names()) all.push_back(small_network(name));
  all.push_back(small_network("isensee2017"));
  all.back().options.heads = net::Heads::normalized;
  for (const std::string name : {"plain_unet", "resenc_unet"}) {
    all.push_back(small_network(name));
    all.back().options.depth = 3;
    all.back().options.max_filters = 4;
    all.back().options.kernels = {{3, 3, 1}, {3, 3, 3}};
    all.back().options.strides = {{1, 1, 1}, {2, 2, 1}, {2, 1, 2}};
  }
  all.push_back(small_network("unet3d"));
  all.back().options.upsampling = net::Upsampling::nearest;
  all.push_back(small_network("deeplabv3"));
  all.back().options.output_stride = net::OutputStride::eight;
  for (const Small& small : all) {
    SCOPED_TRACE(small.options.name);
    const std::vector<Tensor> weights = random_weights(small.of_batch(1));
    const std::vector<double> image = random_image(small.input);
    const OnnxGraph graph = small.exported(weights);
    const Interpreted said = OnnxInterpreter(graph).run(channels_first(small.input, image, small.images()));
    const std::vector<double> ours = our_probabilities(small, small.input, weights, image);
    Shape shape = small.input;
    shape[-1] = small.outputs;
    if (small.onnx().classifies) shape[1] = shape[2] = shape[3] = 1;
    EXPECT_LT(net::largest_difference(said.numbers, channels_first(shape, ours, small.images()).numbers),
              1e-4);
    const double spread =
        *std::max_element(ours.begin(), ours.end()) - *std::min_element(ours.begin(), ours.end());
    EXPECT_GT(spread, 0.02);  // else the comparison is trivial
    std::vector<std::int64_t> sides(said.sides.begin() + 1, said.sides.end());
    EXPECT_EQ(sides, graph.output_shape);
  }
}

TEST(OnnxGraph, SaysWhatOnnxRuntimeSays) {
  const auto fixture =
      net::load_safetensors(fs::path(VOXSWAP_SOURCE_DIR) / "tests/fixtures/onnx_runtime.safetensors");
  std::map<std::string, net::NetworkOptions> networks = {
      {"isensee2017", {.name = "isensee2017", .base_filters = 2, .depth = 3}},
      {"normalized_heads",
       {.name = "isensee2017", .base_filters = 2, .depth = 3, .heads = net::Heads::normalized}},
      {"unet3d", {.name = "unet3d", .base_filters = 2, .depth = 2}},
      {"nearest", {.name = "unet3d", .base_filters = 2, .depth = 2, .upsampling = net::Upsampling::nearest}},
      {"resnet3d", {.name = "resnet3d", .base_filters = 2, .depth = 2}},
      {"deeplabv3", {.name = "deeplabv3", .base_filters = 2}},
      {"plain_unet",
       {.name = "plain_unet",
        .base_filters = 2,
        .depth = 3,
        .slope = 0.01,
        .kernels = {{3, 3, 1}, {3, 3, 3}},
        .strides = {{1, 1, 1}, {2, 2, 1}, {2, 2, 2}}}},
      {"resenc_unet",
       {.name = "resenc_unet",
        .base_filters = 2,
        .max_filters = 4,
        .depth = 3,
        .slope = 0.01,
        .deep_supervision = {1, 0.5}}},
      {"resnet18", {.name = "resnet18", .base_filters = 2}}};
  const auto gives_classes = [](const std::string& name) {
    return name == "deeplabv3" || name == "resenc_unet" || name == "resnet18";
  };
  for (const auto& [name, options] : networks) {
    SCOPED_TRACE(name);
    const net::Tensor &image = fixture.at(name + "/input"), &expected = fixture.at(name + "/probabilities");
    const Small small{options, image.shape, expected.shape[-1], gives_classes(name)};
    std::vector<Tensor> weights;
    const std::string prefix = name + "/parameter/";
    for (const auto& [key, tensor] : fixture)
      if (key.starts_with(prefix))
        weights.push_back(
            {key.substr(prefix.size()), tensor.shape, {tensor.values.begin(), tensor.values.end()}});
    const Interpreted said = OnnxInterpreter(small.exported(weights))
                                 .run(channels_first(image.shape, image.values, small.images()));
    const std::vector<double> theirs =
        channels_first(expected.shape, expected.values, small.images()).numbers;
    EXPECT_LT(net::largest_difference(said.numbers, theirs), 1e-4);
    const std::vector<double> ours = our_probabilities(small, image.shape, weights, image.values);
    EXPECT_LT(net::largest_difference(ours, expected.values), 1e-4);
  }
}

// Exported at one size and run at another, for which our network is built anew.
TEST(OnnxGraph, TakesEveryMultipleOfItsStrides) {
  for (const std::string& name : net::network_names()) {
    SCOPED_TRACE(name);
    Small small = small_network(name);
    small.options.upsampling = name == "unet3d" ? net::Upsampling::nearest : small.options.upsampling;
    const std::vector<Tensor> weights = random_weights(small.of_batch(1));
    const OnnxGraph graph = small.exported(weights);
    const Integers& of = graph.multiple_of;
    const Shape other =
        small.images() ? Shape{1, 1, 47, 38, 3} : Shape{1, 3 * of[0], 4 * of[1], 7 * of[2], 3};
    small.input = other;
    const std::vector<double> image = random_image(other);
    const Interpreted said = OnnxInterpreter(graph).run(channels_first(other, image, small.images()));
    Shape shape = other;
    shape[-1] = small.outputs;
    if (small.onnx().classifies) shape[1] = shape[2] = shape[3] = 1;
    EXPECT_LT(
        net::largest_difference(
            said.numbers,
            channels_first(shape, our_probabilities(small, other, weights, image), small.images()).numbers),
        1e-4);
  }
}

TEST(OnnxGraph, TakesOneSampleAsItTakesSeveral) {
  const Small small = small_network("unet3d");
  const OnnxGraph graph = small.exported(random_weights(small.of_batch(1)));
  const Interpreted both = channels_first(small.input, random_image(small.input), false);
  const Interpreted said = OnnxInterpreter(graph).run(both);
  Interpreted second = both;
  second.sides[0] = 1;
  second.numbers.erase(second.numbers.begin(),
                       second.numbers.begin() + static_cast<std::ptrdiff_t>(both.numbers.size() / 2));
  const Interpreted alone = OnnxInterpreter(graph).run(second);
  const std::vector<double> expected(
      said.numbers.begin() + static_cast<std::ptrdiff_t>(said.numbers.size() / 2), said.numbers.end());
  EXPECT_EQ(alone.numbers, expected);
}

TEST(OnnxGraph, HasNoOperatorThatRuntimesRefuseOnVolumes) {
  for (const std::string& name : net::network_names()) {
    const Small small = small_network(name);
    for (const OnnxNode& node : small.exported(random_weights(small.of_batch(1))).nodes) {
      EXPECT_NE(node.operation, "InstanceNormalization");
      EXPECT_NE(node.operation, "ConvTranspose");
    }
  }
}

TEST(OnnxFile, IsOfAGraphThatTheFormatsCheckerAccepts) {
  if (onnx_library().empty()) GTEST_SKIP() << "built without the ONNX library";
  for (const std::string& name : net::network_names()) {
    const Small small = small_network(name);
    OnnxGraph graph = small.exported(random_weights(small.of_batch(1)));
    const std::string bytes = onnx_file(graph, name, {{"modalities", "[\"t1\"]"}});
    EXPECT_TRUE(test::contains(bytes, "modalities", "probabilities"));
    graph.nodes.erase(graph.nodes.begin());  // the next node now lacks its input
    EXPECT_THROW(onnx_file(graph, name, {}), Error);
  }
}

}  // namespace
}  // namespace voxswap::pipeline
