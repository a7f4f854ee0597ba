// Tests training from torchvision's weights: a file of a ResNet-50 with fewer channels and random weights, in
// torchvision's format, gives the probabilities that torchvision computed (tests/fixtures/image_networks.py).
#include "pipeline/record/starting_weights.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "net/networks/networks.h"
#include "pipeline/device/session.h"
#include "pipeline/export/import_run.h"
#include "tests/expect.h"
#include "tests/folder.h"
#include "tests/net/pytorch.h"
#include "tests/safetensors.h"

namespace voxswap::pipeline {
namespace {

class StartingWeightsFile : public test::InAFolder {};

using Fixture = net::Tensors;

// Writes only the parameters, in their own shapes, and the counters that PyTorch stores with them.
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
  write_file(path, test::safetensors_of(header, data));
}

Experiment experiment_for(const std::string& network, const Shape& input) {
  Experiment experiment;
  experiment.network = {.name = network, .base_filters = 2, .dropout = 0};
  experiment.preprocess.resolution = {input[3], input[2], 1};
  experiment.training.loss = net::Loss::softmax_cross_entropy;
  experiment.memory.device = "cpu";
  experiment.training.precision = Precision::f32;
  return experiment;
}

TEST_F(StartingWeightsFile, OfTorchvisionGiveItsProbabilities) {
  const Fixture expected = net::fixture("resnet50");
  write_as_torchvision(folder_ / "resnet50.safetensors", expected);
  const net::Tensor& images = expected.at("input");
  const Shape& shape = images.shape;
  Session session(experiment_for("resnet50", shape), {}, {shape[4], 5}, Session::Purpose::inference);
  session.initialize(3);
  session.start_from(folder_ / "resnet50.safetensors", {});
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

TEST_F(StartingWeightsFile, OfAnotherNumberOfClassesLeaveTheHeadAtRandom) {
  const Fixture from = net::fixture("resnet50");
  write_as_torchvision(folder_ / "resnet50.safetensors", from);
  const Shape& shape = from.at("input").shape;
  Session session(experiment_for("resnet50", shape), {}, {shape[4], 2}, Session::Purpose::inference);
  session.initialize(3);
  const std::vector<Tensor> random = session.weights();
  session.start_from(folder_ / "resnet50.safetensors", {});
  const std::vector<Tensor> begun = session.weights();
  for (std::size_t i = 0; i < begun.size(); ++i) {
    const bool head = begun[i].name.starts_with("fc.");
    EXPECT_EQ(begun[i].values == random[i].values, head) << begun[i].name;
  }
}

TEST_F(StartingWeightsFile, OfAClassifierAreABackbone) {
  const Fixture from = net::fixture("resnet50");
  write_as_torchvision(folder_ / "resnet50.safetensors", from);
  Session session(experiment_for("deeplabv3", from.at("input").shape), {}, {3, 2},
                  Session::Purpose::inference);
  session.initialize(3);
  session.start_from(folder_ / "resnet50.safetensors", {});
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

TEST_F(StartingWeightsFile, AreUsedIfNameAndShapeMatchAndTheOthersAreListed) {
  const fs::path file = folder_ / "a.safetensors";
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

TEST_F(StartingWeightsFile, OfTheFirstConvolutionAreTakenByTheNamesOfChannels) {
  const fs::path file = folder_ / "a.safetensors";
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
  EXPECT_TRUE(test::contains(fewer.table(), "channels flair taken; random: ct"));
  const StartingWeights turned = begun(3, {"flair", "t1", "t2"});
  EXPECT_EQ(turned.tensors[0].values, (std::vector<float>{4, 5, 0, 1, 2, 3, 10, 11, 6, 7, 8, 9}));
  EXPECT_EQ(begun(3, {"t1", "t2", "flair"}).tensors[0].values, first.values);
  EXPECT_EQ(begun(3, {"ct", "pet", "mr"}).tensors[0].values, first.values) << "names that tell nothing";
  EXPECT_EQ(fates(begun(2, {"ct", "pet"})), (std::vector{Fate::other_shape, Fate::taken}));
}

TEST_F(StartingWeightsFile, OfARunAreItsBest) {
  fs::create_directories(folder_ / "run/checkpoints/repeat_1");
  EXPECT_THROW(weights_file(folder_ / "run"), Error);
  EXPECT_THROW(weights_file(folder_ / "nothing"), Error);
  const fs::path best = folder_ / "run/checkpoints/repeat_1/best.safetensors";
  write_checkpoint(best, {{}, {tensor("a", {1}, 1)}});
  EXPECT_EQ(weights_file(folder_ / "run"), best);
  EXPECT_EQ(weights_file(best), best);
  const fs::path averaged = folder_ / "run/checkpoints/repeat_1/averaged.safetensors";
  write_checkpoint(averaged, {{}, {tensor("a", {1}, 2)}});
  EXPECT_EQ(weights_file(folder_ / "run"), averaged);
}

TEST_F(StartingWeightsFile, OfWhichNoneFitsAreRefused) {
  write_checkpoint(folder_ / "a.safetensors", {{}, {tensor("a", {2}, 1)}});
  EXPECT_THROW(starting_weights(folder_ / "a.safetensors", {tensor("b", {2}, 1)}, {}), Error);
  EXPECT_THROW(starting_weights(folder_ / "a.safetensors", {tensor("a", {3}, 1)}, {}), Error);
}

// Weights of other programs, under their names.
class ImportedWeights : public test::InAFolder {
 protected:
  ImportedWeights() {
    net::NetworkOptions options;
    options.name = "plain_unet";
    options.base_filters = 2;
    options.depth = 3;
    network_ = net::build_network(options, {1, 8, 8, 8, 1}, 2, net::ElementType::f32, false);
    for (const net::ValueId id : network_.parameters) {
      const net::Value& value = network_.graph.value(id);
      const auto count = static_cast<std::size_t>(value.shape.count());
      tensors_.push_back(
          {value.name, value.shape, std::vector<float>(count, static_cast<float>(tensors_.size()))});
    }
  }

  std::vector<Tensor> imported(const std::vector<Tensor>& tensors) const {
    const fs::path file = folder_ / "weights.safetensors";
    write_checkpoint(file, {{}, tensors});
    return imported_weights(file, network_);
  }

  net::ForwardGraph network_;
  std::vector<Tensor> tensors_;
};

// MIC-DKFZ's dynamic-network-architectures list every layer twice, the encoder again in the decoder, and
// logits on every level.
TEST_F(ImportedWeights, OfNnUNetsOwnNetworksMayHaveTheirPartsTwice) {
  std::vector<Tensor> twice = tensors_;
  for (const Tensor& tensor : tensors_) {
    const std::size_t at = tensor.name.find(".conv.weight");
    if (at == tensor.name.npos) continue;
    twice.push_back({tensor.name.substr(0, at) + ".all_modules.0.weight", tensor.shape, tensor.values});
    if (tensor.name.starts_with("encoder."))
      twice.push_back({"decoder." + tensor.name, tensor.shape, tensor.values});
  }
  twice.push_back({"decoder.seg_layers.0.weight", {2, 4, 1, 1, 1}, std::vector<float>(8, -1)});
  EXPECT_GT(twice.size(), tensors_.size() + 10);
  const std::vector<Tensor> found = imported(twice);
  ASSERT_EQ(found.size(), tensors_.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].name, tensors_[i].name);
    EXPECT_EQ(found[i].values, tensors_[i].values) << found[i].name;
  }
}

TEST_F(ImportedWeights, ThatTheNetworkHasNoPlaceForAreRefused) {
  std::vector<Tensor> more = tensors_;
  more.push_back({"encoder.stages.9.0.convs.0.conv.weight", {1}, {0}});
  EXPECT_THROW(imported(more), Error);
  more = tensors_;
  more.pop_back();
  EXPECT_THROW(imported(more), Error);
}

}  // namespace
}  // namespace voxswap::pipeline
