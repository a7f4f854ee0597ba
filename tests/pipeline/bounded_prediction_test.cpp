// Tests that prediction by windows, mirrorings and members in turns gives the bits of sums over whole
// volumes, and that its memory does not grow with the depth of a volume or the number of members.
#include <gtest/gtest.h>

#include "base/file.h"
#include "pipeline/cases/patches.h"
#include "pipeline/cases/windows.h"
#include "pipeline/predict/predictor.h"
#include "tests/folder.h"
#include "tests/heap.h"
#include "tests/pipeline/noise_case.h"

namespace voxswap::pipeline {
namespace {

constexpr std::int64_t channels = 2;

data::PreparedCase noise(const Size3& size) {
  return test::noise_case(size, channels);
}

// Three repeats of a network with random weights; windows of 8 voxels, if any, overlap by half.
class BoundedPrediction : public test::InAFolder {
 protected:
  void make(const Size3& size, std::optional<Size3> window, std::int64_t outputs) {
    Experiment& experiment = run_.experiment;
    experiment = test::small_network(size, window);
    experiment.training.repeats = 3;
    experiment.output = folder_;
    dataset_.modalities = {"t1", "t2"};
    dataset_.labels.clear();
    for (int label = 1; label <= outputs; ++label)
      dataset_.labels.emplace_back(format("label_{}", label), label);
    outputs_ = outputs;
    Session session(experiment, {}, {channels, outputs}, Session::Purpose::inference);
    for (std::int64_t repeat = 1; repeat <= 3; ++repeat) {
      session.initialize(static_cast<std::uint64_t>(repeat));
      test::write_best(experiment, dataset_, repeat, session.weights());
    }
  }

  // The mean of mirrored copies, then the sum over whole volumes: layer by layer, in each all members in
  // turn.
  std::vector<float> expected(const data::PreparedCase& prepared, std::int64_t members, bool mirror) {
    const Experiment& experiment = run_.experiment;
    const data::NormalizedCase normal = data::normalize(prepared, {{0.5, 0}, {2, 1}});
    Session session(experiment, {}, {channels, outputs_}, Session::Purpose::inference);
    const auto pass = [&](const VoxelBox& box) {
      const std::vector<float> image = cut(normal.image, normal.size, box, channels);
      std::vector<float> sum = session.predict(image);
      for (int flips = 1; mirror && flips < 8; ++flips) {
        const data::Symmetry turn = data::symmetry(flips);
        const std::vector<float> back = data::apply(
            turn, session.predict(data::apply(turn, image, box.size, channels)), box.size, outputs_);
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += back[i];
      }
      for (float& value : sum) value /= mirror ? 8.0F : 1.0F;
      return sum;
    };
    const Windows windows = make_windows(normal.size, input_size(experiment), 0.5);
    const std::size_t layers = windows.axes[2].starts.size(), each = windows.count() / layers;
    std::vector<float> mean(static_cast<std::size_t>(voxels_in(normal.size) * outputs_));
    for (std::size_t layer = 0; layer < layers; ++layer)
      for (std::int64_t repeat = 1; repeat <= members; ++repeat) {
        session.initialize(static_cast<std::uint64_t>(repeat));
        for (std::size_t i = 0; i < each; ++i) {
          const std::size_t number = layer * each + i;
          add_window(windows, number, pass(windows.box(number)), mean);
        }
      }
    for (float& value : mean) value /= static_cast<float>(members);
    return mean;
  }

  void add_window(const Windows& windows, std::size_t number, const std::vector<float>& part,
                  std::vector<float>& sum) const {
    const Size3& size = windows.volume;
    const VoxelBox box = windows.box(number);
    const std::size_t nx = windows.axes[0].starts.size(), ny = windows.axes[1].starts.size();
    const std::vector<float>&wx = windows.axes[0].weights[number % nx],
          &wy = windows.axes[1].weights[number / nx % ny], &wz = windows.axes[2].weights[number / (nx * ny)];
    auto from = part.begin();
    for (std::size_t z = 0; z < wz.size(); ++z)
      for (std::size_t y = 0; y < wy.size(); ++y)
        for (std::size_t x = 0; x < wx.size(); ++x) {
          const Size3 at{box.start[0] + static_cast<std::int64_t>(x),
                         box.start[1] + static_cast<std::int64_t>(y),
                         box.start[2] + static_cast<std::int64_t>(z)};
          const float weight = wx[x] * (wy[y] * wz[z]);
          float* to =
              &sum[static_cast<std::size_t>(((at[2] * size[1] + at[1]) * size[0] + at[0]) * outputs_)];
          for (std::int64_t c = 0; c < outputs_; ++c) *to++ += weight * *from++;
        }
  }

  // Heap bytes at most held while members predict, beside those before.
  long most_bytes(Predictor& predictor, const std::vector<std::int64_t>& repeats,
                  const data::PreparedCase& prepared, const Scratch& scratch = {}) {
    predictor.use(repeats);
    predictor.predict(prepared, [](auto) {});  // allocates the session
    test::Heap::bytes = test::Heap::most_bytes = 0;
    test::Heap::counted = true;
    predictor.predict(
        prepared, [](auto) {}, scratch);
    test::Heap::counted = false;
    return test::Heap::most_bytes;
  }

  // All sums in files, a plane in memory at a time.
  Scratch in_files() const { return {0, folder_, 1}; }

  TrainedRun run_;
  data::Dataset dataset_;
  std::int64_t outputs_ = 0;
};

TEST_F(BoundedPrediction, HasTheBitsOfSumsOverWholeVolumes) {
  const Size3 size{12, 16, 20};
  for (const std::optional<Size3> window : {std::optional<Size3>(), std::optional<Size3>({8, 8, 8})}) {
    make(size, window, 3);
    for (const bool mirror : {false, true}) {
      PredictOptions how;
      how.mirror = mirror;
      Predictor predictor(run_, dataset_, how);
      for (const std::int64_t members : {1, 3}) {
        predictor.use(members == 1 ? std::vector<std::int64_t>{1} : std::vector<std::int64_t>{1, 2, 3});
        const std::vector<float> whole = expected(noise(size), members, mirror);
        for (const Scratch& scratch : {Scratch{}, in_files()}) {
          std::vector<float> found;
          predictor.predict(
              noise(size), [&](auto planes) { found.insert(found.end(), planes.begin(), planes.end()); },
              scratch);
          EXPECT_EQ(found, whole) << window.has_value() << mirror << members << scratch.folder;
        }
      }
    }
  }
}

// A whole volume of probabilities has 16 window depths.
TEST_F(BoundedPrediction, HoldsNoMoreThanAFewWindowDepthsForAnyNumberOfMembers) {
  const Size3 size{16, 16, 128};
  constexpr std::int64_t outputs = 24;
  constexpr long depth = 16 * 16 * 8 * outputs * 4;  // bytes
  make(size, Size3{8, 8, 8}, outputs);
  const data::PreparedCase prepared = noise(size);
  Predictor predictor(run_, dataset_, {});
  const long one = most_bytes(predictor, {1}, prepared), three = most_bytes(predictor, {1, 2, 3}, prepared);
  EXPECT_LT(one, 3 * depth);
  EXPECT_LT(three, one + depth);
  EXPECT_LT(most_bytes(predictor, {1, 2, 3}, prepared, in_files()), depth / 2);
}

}  // namespace
}  // namespace voxswap::pipeline
