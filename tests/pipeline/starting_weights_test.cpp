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
  session.start_from(folder / "resnet50.safetensors", {});
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
  session.start_from(folder / "resnet50.safetensors", {});
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
  session.start_from(folder / "resnet50.safetensors", {});
  for (const Tensor& tensor : session.weights()) {
    if (tensor.name != "backbone.layer4.2.conv3.weight") continue;
    const std::vector<double>& expected = from.at("parameter/layer4.2.conv3.weight").values;
    EXPECT_EQ(tensor.values, std::vector<float>(expected.begin(), expected.end()));
  }
}

using Fate = StartingWeights::Fate;

Tensor tensor(const std::string& name, const Shape& shape, float value) {
  return {name, shape, std::vector<float>(static_cast<std::size_t>(shape.count()), value)};
}

std::vector<Fate> fates(const StartingWeights& weights) {
  std::vector<Fate> all;
  for (const StartingWeights::Row& row : weights.rows) all.push_back(row.fate);
  return all;
}

TEST(StartingWeights, AreTakenWhereNameAndShapeFitAndTheRestIsTold) {
  const test::TemporaryFolder folder;
  const fs::path file = folder / "a.safetensors";
  write_checkpoint(file, {{},
                          {tensor("a.weight", {2, 1, 1, 1, 1}, 7), tensor("head.weight", {3, 2, 1, 1, 1}, 7),
                           tensor("gone.weight", {4}, 7), tensor("a.weight.m", {2, 1, 1, 1, 1}, 7),
                           tensor("loss.scale", {3}, 7)}});
  const StartingWeights weights =
      starting_weights(file,
                       {tensor("a.weight", {2, 1, 1, 1, 1}, 1), tensor("b.bias", {5}, 1),
                        tensor("head.weight", {4, 2, 1, 1, 1}, 1)},
                       {"t1"});
  EXPECT_EQ(fates(weights), (std::vector{Fate::taken, Fate::missing, Fate::other_shape, Fate::unused}));
  EXPECT_EQ(weights.tensors[0].values[0], 7);
  EXPECT_EQ(weights.tensors[1].values[0], 1);
  EXPECT_EQ(weights.tensors[2].values[0], 1);
  EXPECT_EQ(weights.table(), "network.init: 1 of 3 parameters are initialised from " + file.string() +
                                 "\n  other shape  head.weight  3x2x1x1x1 there, 4x2x1x1x1 here"
                                 "\n  missing      b.bias  5"
                                 "\n  unused       gone.weight  4");
}

TEST(StartingWeights, OfTheFirstConvolutionAreTakenByTheNamesOfChannels) {
  const test::TemporaryFolder folder;
  const fs::path file = folder / "a.safetensors";
  Tensor first{"first.weight", {2, 3, 1, 1, 2}, {}};
  for (int i = 0; i < 12; ++i) first.values.push_back(static_cast<float>(i));
  write_checkpoint(file,
                   {{{"modalities", "t1 t2 flair"}}, {first, tensor("next.weight", {4, 3, 1, 1, 1}, 5)}});
  const auto begun = [&](std::int64_t channels, const std::vector<std::string>& modalities) {
    return starting_weights(
        file,
        {tensor("first.weight", {2, channels, 1, 1, 2}, -1), tensor("next.weight", {4, 3, 1, 1, 1}, -1)},
        modalities);
  };
  const StartingWeights fewer = begun(2, {"flair", "ct"});
  EXPECT_EQ(fewer.tensors[0].values, (std::vector<float>{4, 5, -1, -1, 10, 11, -1, -1}));
  EXPECT_EQ(fates(fewer), (std::vector{Fate::by_channel, Fate::taken}));
  EXPECT_NE(fewer.table().find("channels flair taken; random: ct"), std::string::npos) << fewer.table();
  const StartingWeights turned = begun(3, {"flair", "t1", "t2"});
  EXPECT_EQ(turned.tensors[0].values, (std::vector<float>{4, 5, 0, 1, 2, 3, 10, 11, 6, 7, 8, 9}));
  EXPECT_EQ(begun(3, {"t1", "t2", "flair"}).tensors[0].values, first.values);
  EXPECT_EQ(begun(3, {"ct", "pet", "mr"}).tensors[0].values, first.values) << "names that tell nothing";
  EXPECT_EQ(fates(begun(2, {"ct", "pet"})), (std::vector{Fate::other_shape, Fate::taken}));
}

TEST(StartingWeights, OfARunAreItsBest) {
  const test::TemporaryFolder folder;
  fs::create_directories(folder / "run/checkpoints/repeat_1");
  EXPECT_THROW(weights_file(folder / "run"), Error);
  EXPECT_THROW(weights_file(folder / "nothing"), Error);
  const fs::path best = folder / "run/checkpoints/repeat_1/best.safetensors";
  write_checkpoint(best, {{}, {tensor("a", {1}, 1)}});
  EXPECT_EQ(weights_file(folder / "run"), best);
  EXPECT_EQ(weights_file(best), best);
  const fs::path averaged = folder / "run/checkpoints/repeat_1/averaged.safetensors";
  write_checkpoint(averaged, {{}, {tensor("a", {1}, 2)}});
  EXPECT_EQ(weights_file(folder / "run"), averaged);
}

TEST(StartingWeights, OfWhichNoneFitsAreRefused) {
  const test::TemporaryFolder folder;
  write_checkpoint(folder / "a.safetensors", {{}, {tensor("a", {2}, 1)}});
  EXPECT_THROW(starting_weights(folder / "a.safetensors", {tensor("b", {2}, 1)}, {}), Error);
  EXPECT_THROW(starting_weights(folder / "a.safetensors", {tensor("a", {3}, 1)}, {}), Error);
}

}  // namespace
}  // namespace voxswap::pipeline
