// torchvision's weights begin a training here: a file as torchvision leaves it, of a ResNet-50 with fewer
// channels and random weights, gives the probabilities that torchvision computed with them
// (tests/fixtures/image_networks.py).
#include "pipeline/record/starting_weights.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "pipeline/device/session.h"
#include "tests/folder.h"
#include "tests/net/safetensors.h"

namespace voxswap::pipeline {
namespace {

using Fixture = std::map<std::string, net::Tensor>;

Fixture fixture(const std::string& network) {
  return net::load_safetensors(fs::path(VOXSWAP_SOURCE_DIR) / "tests/fixtures" /
                               (network + "_small.safetensors"));
}

// The parameters alone, in their own shapes, with the counters that PyTorch keeps beside them.
void write_as_torchvision(const fs::path& path, const Fixture& from) {
  Json header = {{"__metadata__", {{"format", "pt"}}}};
  std::string data;
  const auto add = [&](const std::string& name, const char* type, const std::vector<std::int64_t>& shape,
                       const void* bytes, std::size_t size) {
    header[name] = {{"dtype", type}, {"shape", shape}, {"data_offsets", {data.size(), data.size() + size}}};
    data.append(static_cast<const char*>(bytes), size);
  };
  for (const auto& [name, tensor] : from) {
    if (!name.starts_with("parameter/")) continue;
    const std::string plain = name.substr(10);
    const std::vector<float> values(tensor.values.begin(), tensor.values.end());
    add(plain, "F32", tensor.shape.extents(), values.data(), values.size() * sizeof(float));
    if (plain.ends_with("running_var")) {
      const std::int64_t batches = 7;
      add(plain.substr(0, plain.size() - 11) + "num_batches_tracked", "I64", {}, &batches, sizeof batches);
    }
  }
  const std::string text = header.dump();
  const std::uint64_t size = text.size();
  std::string file(sizeof size, '\0');
  std::memcpy(file.data(), &size, sizeof size);
  write_file(path, file + text + data);
}

RunOptions options_for(const std::string& network, const Shape& input) {
  RunOptions options;
  options.network = {.name = network, .base_filters = 2, .dropout = 0};
  options.preprocess.resolution = {input[3], input[2], 1};
  options.training.loss = net::Loss::softmax_cross_entropy;
  options.memory.device = "cpu";
  options.training.precision = Precision::f32;
  return options;
}

TEST(StartingWeights, OfTorchvisionGiveItsProbabilities) {
  const test::TemporaryFolder folder;
  const Fixture expected = fixture("resnet50");
  write_as_torchvision(folder / "resnet50.safetensors", expected);
  const net::Tensor& images = expected.at("input");
  const Shape& shape = images.shape;
  Session session(options_for("resnet50", shape), shape[4], 5, Session::Purpose::inference);
  session.initialize(3);
  session.start_from(folder / "resnet50.safetensors");
  const net::Tensor& predicted = expected.at("32/predicted");
  const std::int64_t pixels = shape.count() / shape[0];
  for (std::int64_t n = 0; n < shape[0]; ++n) {
    const std::vector<float> image(images.values.begin() + n * pixels,
                                   images.values.begin() + (n + 1) * pixels);
    const std::vector<float> got = session.predict(image);
    ASSERT_EQ(got.size(), 5U);
    for (std::size_t c = 0; c < 5; ++c)
      EXPECT_NEAR(got[c], predicted.values[static_cast<std::size_t>(n) * 5 + c], 1e-4);
  }
}

TEST(StartingWeights, OfAnotherNumberOfClassesLeaveTheHeadAtRandom) {
  const test::TemporaryFolder folder;
  const Fixture from = fixture("resnet50");
  write_as_torchvision(folder / "resnet50.safetensors", from);
  const Shape& shape = from.at("input").shape;
  Session session(options_for("resnet50", shape), shape[4], 2, Session::Purpose::inference);
  session.initialize(3);
  const std::vector<Tensor> random = session.weights();
  session.start_from(folder / "resnet50.safetensors");
  const std::vector<Tensor> begun = session.weights();
  for (std::size_t i = 0; i < begun.size(); ++i) {
    const bool head = begun[i].name.starts_with("fc.");
    EXPECT_EQ(begun[i].values == random[i].values, head) << begun[i].name;
  }
}

TEST(StartingWeights, OfAClassifierAreABackbone) {
  const test::TemporaryFolder folder;
  const Fixture from = fixture("resnet50");
  write_as_torchvision(folder / "resnet50.safetensors", from);
  Session session(options_for("deeplabv3", from.at("input").shape), 3, 2, Session::Purpose::inference);
  session.initialize(3);
  session.start_from(folder / "resnet50.safetensors");
  for (const Tensor& tensor : session.weights()) {
    if (tensor.name != "backbone.layer4.2.conv3.weight") continue;
    const std::vector<double>& expected = from.at("parameter/layer4.2.conv3.weight").values;
    EXPECT_EQ(tensor.values, std::vector<float>(expected.begin(), expected.end()));
  }
}

TEST(StartingWeights, OfAnotherNetworkAreRefused) {
  const test::TemporaryFolder folder;
  const Fixture from = fixture("resnet18");
  write_as_torchvision(folder / "resnet18.safetensors", from);
  const Shape& shape = from.at("input").shape;
  Session other(options_for("resnet50", shape), 3, 5, Session::Purpose::inference);
  other.initialize(3);
  EXPECT_THROW(other.start_from(folder / "resnet18.safetensors"), Error);
  Session grey(options_for("resnet18", shape), 1, 5, Session::Purpose::inference);
  grey.initialize(3);
  EXPECT_THROW(grey.start_from(folder / "resnet18.safetensors"), Error);
}

}  // namespace
}  // namespace voxswap::pipeline
