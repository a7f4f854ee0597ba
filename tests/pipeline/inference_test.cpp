// Tests sliding windows and mirroring with a small network, bit for bit where results must be identical.
#include "pipeline/predict/inference.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "pipeline/cases/patches.h"
#include "pipeline/predict/predict.h"
#include "pipeline/predict/predictor.h"
#include "tests/expect.h"
#include "tests/folder.h"
#include "tests/pipeline/noise_case.h"

namespace voxswap::pipeline {
namespace {

const Size3 size{16, 16, 16};
constexpr std::int64_t channels = 2, outputs = 3;

struct Network : Session {
  explicit Network(std::optional<Size3> patch)
      : Session(test::small_network(size, patch), {}, {channels, outputs}, Purpose::inference) {
    initialize(3);
  }
};

data::PreparedCase noise() {
  return test::noise_case(size, channels);
}

data::NormalizedCase normalized_noise() {
  return data::normalize(noise(), {std::vector<double>(channels, 0.0), std::vector<double>(channels, 1.0)});
}

TEST(Inference, WithAWindowAsLargeAsTheVolumeIsTheWholeVolumesToTheBit) {
  const data::NormalizedCase normal = normalized_noise();
  Network whole(std::nullopt), windowed(size);
  const std::vector<float> expected = whole.predict(normal.image);
  EXPECT_EQ(infer(whole, normal, outputs, {size, 0.5, {}}), expected);
  EXPECT_EQ(infer(windowed, normal, outputs, {size, 0.5, {}}), expected);
}

TEST(Inference, RefusesAWindowLargerThanTheVolume) {
  data::NormalizedCase small = normalized_noise();
  small.size = {16, 16, 8};
  Network session(std::nullopt);
  EXPECT_THROW(infer(session, small, outputs, {size, 0.5, {}}), Error);
}

// Averaging along one axis does not make the result invariant along the others.
TEST(Mirroring, AlongOneAxisAveragesTheTwoSidesAndNothingElse) {
  const data::NormalizedCase normal = normalized_noise();
  Network session(std::nullopt);
  const std::vector<float> plain = session.predict(normal.image);
  for (int axis = 0; axis < 3; ++axis) {
    InferenceOptions one{size, 0.5, {}};
    one.mirrored[static_cast<std::size_t>(axis)] = true;
    const data::Symmetry mirror = data::symmetry(1 << axis);
    const std::vector<float> other = data::apply(
        mirror, session.predict(data::apply(mirror, normal.image, size, channels)), size, outputs);
    const std::vector<float> found = infer(session, normal, outputs, one);
    EXPECT_NE(other, plain);
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], (plain[i] + other[i]) / 2);
  }
}

class NetworkEnsembles : public test::InAFolder {
 protected:
  // Two repeats with different weights, in the files that train() writes.
  void SetUp() override {
    experiment_ = test::small_network(size, std::nullopt);
    experiment_.output = folder_;
    experiment_.training.repeats = 2;
    dataset_.modalities = {"t1", "t2"};
    dataset_.labels = {{"a", 1}, {"b", 2}, {"c", 3}};
    Session session(experiment_, {}, {channels, outputs}, Session::Purpose::inference);
    for (std::int64_t repeat = 1; repeat <= 2; ++repeat) {
      session.initialize(static_cast<std::uint64_t>(repeat));
      test::write_best(experiment_, dataset_, repeat, session.weights());
    }
  }

  std::vector<float> predict(const std::vector<std::int64_t>& repeats) const {
    Predictor predictor(run_, dataset_, {});
    predictor.use(repeats);
    predictor.probabilities(noise());  // a former case must have no effect
    return predictor.probabilities(noise());
  }

  TrainedRun run_;
  Experiment& experiment_ = run_.experiment;
  data::Dataset dataset_;
};

// Each fold has its own normalisation and its own folder.
TEST_F(NetworkEnsembles, OfSeveralRunsAverageTheirProbabilities) {
  TrainedRun other = run_;
  other.experiment.output = folder_ / "other";
  const fs::path from = checkpoint_folder(experiment_, 2), to = checkpoint_folder(other.experiment, 2);
  fs::create_directories(to);
  fs::copy_file(from / "best.safetensors", to / "best.safetensors");
  const std::vector<float> first = predict({1}), second = predict({2});
  EXPECT_NE(first, second);
  Predictor predictor(run_, dataset_, {});
  predictor.use_members({{&run_, 1}, {&other, 2}});
  const std::vector<float> both = predictor.probabilities(noise());
  for (std::size_t i = 0; i < both.size(); ++i) EXPECT_EQ(both[i], (first[i] + second[i]) / 2);
  EXPECT_EQ(members_of({run_, other}).size(), 4u);
}

// The second network is deeper and uses other windows.
TEST_F(NetworkEnsembles, OfDifferentNetworksAverageTheirProbabilities) {
  TrainedRun other{test::small_network(size, Size3{8, 8, 8})};
  other.experiment.network.depth = 3;
  other.experiment.output = folder_ / "other";
  run_.settings = {{"network.depth", "2"}, {"training.patch", "none"}};
  other.settings = {{"network.depth", "3"}, {"training.patch", "8"}};
  Session session(other.experiment, {}, {channels, outputs}, Session::Purpose::inference);
  session.initialize(5);
  test::write_best(other.experiment, dataset_, 1, session.weights());

  Predictor alone(other, dataset_, {});
  alone.use({1});
  const std::vector<float> first = predict({1}), second = alone.probabilities(noise());
  Predictor predictor(run_, dataset_, {});
  predictor.use_members({{&run_, 1}, {&other, 1}});
  const std::vector<float> both = predictor.probabilities(noise());
  for (std::size_t i = 0; i < both.size(); ++i) ASSERT_EQ(both[i], (first[i] + second[i]) / 2);
  EXPECT_EQ(predictor.probabilities(noise(), 1), second);
  EXPECT_EQ(predictor.probabilities(noise(), 0), first);
}

TEST_F(NetworkEnsembles, RefuseRunsThatAreNotAlike) {
  run_.settings = {{"preprocess.crop", "none"}, {"network.depth", "3"}, {"training.epochs", "10"}};
  TrainedRun other = run_;
  other.settings[1].value = "4";
  other.settings[2].value = "20";
  EXPECT_NO_THROW(check_alike({run_, other}, {dataset_, dataset_}, {}));
  data::Dataset labels = dataset_;
  labels.labels.pop_back();
  EXPECT_THROW(check_alike({run_, other}, {dataset_, labels}, {}), Error);
  other.settings[0].value = "foreground";
  EXPECT_THROW(check_alike({run_, other}, {dataset_, dataset_}, {}), Error);
  other.settings[0].value = "none";
  other.experiment.training.loss = net::Loss::softmax_dice_cross_entropy;
  EXPECT_THROW(check_alike({run_, other}, {dataset_, dataset_}, {}), Error);
}

// Prediction mirrors only the axes that training mirrored.
TEST_F(NetworkEnsembles, MirrorTheAxesThatTrainingMirroredAndNoOthers) {
  experiment_.preprocess.normalize = data::Normalize::none;
  const auto predicted = [&](bool mirror) {
    PredictOptions how;
    how.mirror = mirror;
    Predictor predictor(run_, dataset_, how);
    predictor.use({1});
    return predictor.probabilities(noise());
  };
  Session session(experiment_, {}, {channels, outputs}, Session::Purpose::inference);
  session.initialize(1);
  experiment_.training.augment.symmetries = false;
  experiment_.training.augment.flip = {0.5, 0, 0};
  EXPECT_EQ(predicted(true), infer(session, normalized_noise(), outputs, {size, 0.5, {true, false, false}}));
  EXPECT_EQ(predicted(false), session.predict(noise().image));
  experiment_.training.augment.flip = {0, 0, 1};
  EXPECT_EQ(predicted(true), infer(session, normalized_noise(), outputs, {size, 0.5, {false, false, true}}));
  experiment_.training.augment.symmetries = true;
  EXPECT_EQ(predicted(true), infer(session, normalized_noise(), outputs, {size, 0.5, {true, true, true}}));
  experiment_.training.augment.symmetries = false;
  experiment_.training.augment.flip = {0, 0, 0};
  test::expect_failure([&] { predicted(true); }, Exit::usage, {"trained without mirroring"});
}

TEST_F(NetworkEnsembles, RefuseWindowsThatDoNotFit) {
  for (const Size3& window : {Size3{15, 16, 16}, Size3{32, 16, 16}}) {
    PredictOptions how;
    how.window = window;
    SCOPED_TRACE(window[0]);
    test::expect_failure([&] { Predictor(run_, dataset_, how); }, Exit::usage, {"--window"});
  }
}

}  // namespace
}  // namespace voxswap::pipeline
