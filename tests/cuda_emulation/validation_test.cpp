// Tests validation on the emulated GPU: what it copies back, and the labels that it decides and counts there.
#include <gtest/gtest.h>

#include <array>

#include "metrics/overlap.h"
#include "pipeline/cases/label_decoder.h"
#include "pipeline/device/session.h"
#include "tests/cuda_emulation/gpu.h"
#include "tests/folder.h"

namespace voxswap::net {
namespace {

constexpr std::int64_t side = 8, voxels = side * side * side, channels = 2;

class ValidationOnGpu : public test::InAFolder {
 protected:
  ValidationOnGpu() {
    experiment_.cache = folder_;
    experiment_.memory.device = "cuda";
    experiment_.memory.planner = "keep";
    experiment_.memory.budget_bytes = std::int64_t{64} << 20;
    experiment_.network = {.base_filters = 2, .depth = 2};
    experiment_.preprocess.resolution = {side, side, side};
    dataset_.labels = {{"necrosis", 1}, {"oedema", 2}, {"enhancing", 4}};
    dataset_.regions = {{"whole_tumor", {1, 2, 4}}};
    for (std::size_t i = 0; i < image_.size(); ++i) image_[i] = static_cast<float>((i * 7) % 97) / 48 - 1;
    for (std::size_t i = 0; i < target_.size(); ++i) {
      target_[i] = static_cast<std::uint8_t>(i / 5 % 8);
      truth_[i] = std::array<std::int16_t, 4>{0, 1, 2, 4}[i / 5 % 4];
    }
  }
  std::unique_ptr<pipeline::Session> open(const net::LabelOptions& labels, std::int64_t outputs) const {
    auto session = std::make_unique<pipeline::Session>(
        experiment_, pipeline::RunContext{},
        pipeline::StepData{.channels = channels, .outputs = outputs, .labels = labels},
        pipeline::Session::Purpose::training);
    session->initialize(3);
    return session;
  }

  pipeline::Experiment experiment_;
  data::Dataset dataset_;
  std::vector<float> image_ = std::vector<float>(channels * voxels);
  std::vector<std::uint8_t> target_ = std::vector<std::uint8_t>(voxels);
  std::vector<std::int16_t> truth_ = std::vector<std::int16_t>(voxels);
};

TEST_F(ValidationOnGpu, CopiesBackTheLossTheCountsAndTheLabelMapIfItIsWanted) {
  const net::LabelOptions labels = pipeline::label_options(experiment_, dataset_);
  const auto session = open(labels, 3);
  const auto copied_by = [&](const pipeline::TakeLabels& take) {
    const std::int64_t before = emulation::counts().bytes_copied_back;
    session->score(image_, target_, truth_, take);
    return emulation::counts().bytes_copied_back - before;
  };
  copied_by({});  // the first run also allocates
  const auto counts = static_cast<std::int64_t>(8 * labels.values.size() * labels.values.size());
  EXPECT_EQ(copied_by({}), 4 + counts);
  EXPECT_EQ(copied_by([](auto) {}), 4 + counts + 2 * voxels);
}

TEST_F(ValidationOnGpu, DecidesAndCountsTheLabelsOfTheHost) {
  for (const pipeline::Targets targets : {pipeline::Targets::labels, pipeline::Targets::both}) {
    experiment_.training.targets = targets;
    const pipeline::LabelDecoder decoder = pipeline::make_decoder(dataset_, experiment_.training);
    net::LabelOptions options = pipeline::label_options(experiment_, dataset_);
    options.probabilities = true;
    const auto session = open(options, static_cast<std::int64_t>(decoder.values.size()));
    std::vector<float> probabilities;
    const float loss = session->validation_loss(image_, target_, [&](auto planes) {
      probabilities.insert(probabilities.end(), planes.begin(), planes.end());
    });
    std::vector<std::int16_t> labels;
    const pipeline::Session::Score score = session->score(image_, target_, truth_, [&](auto planes) {
      labels.insert(labels.end(), planes.begin(), planes.end());
    });
    EXPECT_EQ(score.loss, loss);
    EXPECT_EQ(labels, decoder.decode(probabilities));
    const auto found = pipeline::LabelCounts(options, 0).pairs(score.confusion);
    const auto expected = metrics::label_pairs(truth_, labels, {side, side, side});
    ASSERT_EQ(found.size(), expected.size());
    EXPECT_GT(found.size(), 4u);
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].truth, expected[i].truth);
      EXPECT_EQ(found[i].prediction, expected[i].prediction);
      EXPECT_EQ(found[i].voxels, expected[i].voxels);
    }
  }
}

}  // namespace
}  // namespace voxswap::net
