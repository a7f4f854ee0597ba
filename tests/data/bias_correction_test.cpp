// N4 on a phantom with a known bias field, and the channels it is applied to.
#include "data/prepare/bias_correction.h"

#include <itkMultiThreaderBase.h>

#include <cmath>

#include "tests/data/support.h"

namespace voxswap::data {
namespace {

using namespace test;

struct Phantom {
  Image even, biased;  // without and with a field
};

// A ball of three tissues with 3 % noise, 0 outside, with a bias field of about +-30 %.
Phantom ball(const Size3& size) {
  Geometry grid = geometry(size);
  for (std::size_t axis = 0; axis < 3; ++axis) grid.spacing[axis] = 200.0 / static_cast<double>(size[axis]);
  const auto count = static_cast<std::size_t>(grid.count());
  Phantom phantom{{grid, std::vector<float>(count, 0.0F)}, {grid, std::vector<float>(count, 0.0F)}};
  const Philox random(4, 4);
  std::size_t i = 0;
  for_each_voxel(size, [&](auto x, auto y, auto z) {
    const std::size_t at = i++;
    const auto part = [&](std::int64_t index, std::size_t axis) {
      return 2 * (static_cast<double>(index) + 0.5) / static_cast<double>(size[axis]) - 1;
    };
    const double u = part(x, 0), v = part(y, 1), w = part(z, 2);
    const double r = std::sqrt(u * u + v * v + w * w);
    if (r > 0.85) return;
    const double folds = 0.08 * std::sin(12 * u) * std::sin(11 * v + 1) * std::sin(13 * w);
    const double tissue = r + folds < 0.3 ? 60 : r + folds < 0.65 ? 180 : 110;
    const double value = tissue * (1 + 0.03 * random.normal(at));
    phantom.even.voxels[at] = static_cast<float>(value);
    phantom.biased.voxels[at] = static_cast<float>(value * std::exp(0.35 * u - 0.2 * v * w + 0.25 * w * w));
  });
  return phantom;
}

// Standard deviation of log(image / even) over the foreground: 0 if the remaining field is constant.
double unevenness(const Image& image, const Image& even) {
  double sum = 0, squares = 0, count = 0;
  for (std::size_t i = 0; i < image.voxels.size(); ++i) {
    if (even.voxels[i] == 0) continue;
    const double part = std::log(image.voxels[i] / even.voxels[i]);
    sum += part;
    squares += part * part;
    ++count;
  }
  return std::sqrt(squares / count - sum / count * sum / count);
}

TEST(BiasCorrection, TakesMostOfAnImposedFieldAway) {
  const Phantom phantom = ball({64, 64, 64});
  const double before = unevenness(phantom.biased, phantom.even);
  const double after = unevenness(correct_bias(phantom.biased, 0, "ball"), phantom.even);
  std::printf("deviation of the log field: %.4f before, %.4f after\n", before, after);
  EXPECT_GT(before, 0.1);
  EXPECT_LT(after, before / 10);
}

TEST(BiasCorrection, LeavesTheBackgroundAndGivesTheSameBitsForAnyNumberOfThreads) {
  const Phantom phantom = ball({24, 24, 20});
  itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(1);
  const Image one_thread = correct_bias(phantom.biased, 0, "ball");
  itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(3);
  const Image three_threads = correct_bias(phantom.biased, 0, "ball");
  EXPECT_EQ(one_thread.voxels, three_threads.voxels);
  EXPECT_EQ(one_thread.geometry, phantom.biased.geometry);
  for (std::size_t i = 0; i < one_thread.voxels.size(); ++i) {
    ASSERT_TRUE(std::isfinite(one_thread.voxels[i]));
    ASSERT_EQ(one_thread.voxels[i] == 0, phantom.biased.voxels[i] == 0);
  }
}

TEST(BiasCorrection, RefusesWhatHasNoLogarithmOrNoForeground) {
  Image image = ball({16, 16, 16}).biased;
  expect_failure(
      [&] {
        correct_bias(Image{image.geometry, std::vector<float>(16 * 16 * 16, 0.0F)}, 0, "case 7");
      },
      Exit::bad_data, {"case 7", "no foreground"});
  for (float& value : image.voxels) value -= 100;
  expect_failure([&] { correct_bias(image, -100, "case 7, channel 2"); }, Exit::bad_data,
                 {"case 7, channel 2", "needs positive intensities", "preprocess.bias_correction"});
}

TEST(BiasCorrection, IsForT1AndT2ByTheirNamesUnlessChannelsAreNamed) {
  using Switches = std::vector<bool>;
  EXPECT_EQ(corrected_channels({"n4"}, {"t1", "t1ce", "t2", "flair"}), (Switches{true, true, true, false}));
  EXPECT_EQ(corrected_channels({"n4"}, {"t1n", "t1c", "t2w", "t2f"}), (Switches{true, true, true, false}));
  EXPECT_EQ(corrected_channels({"n4"}, {"FLAIR", "T1w", "t1gd", "T2w"}), (Switches{false, true, true, true}));
  EXPECT_EQ(corrected_channels({"flair"}, {"t1", "flair"}), (Switches{false, true}));
  EXPECT_EQ(corrected_channels({}, {"t1", "flair"}), (Switches{false, false}));
  expect_failure([&] { corrected_channels({"n4"}, {"MRI"}); }, Exit::usage, {"MRI", "[MRI]"});
  expect_failure([&] { corrected_channels({"t3"}, {"t1", "t2"}); }, Exit::usage, {"'t3'", "t1, t2"});
}

}  // namespace
}  // namespace voxswap::data
