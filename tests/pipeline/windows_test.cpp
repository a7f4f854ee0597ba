// Tests that sliding windows cover a volume, their weights sum to one, and one window changes nothing.
#include "pipeline/cases/windows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "pipeline/cases/patches.h"
#include "pipeline/predict/nnunet_windows.h"
#include "tests/folder.h"

namespace voxswap::pipeline {
namespace {

std::vector<float> ramp(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = 0.1f + static_cast<float>(i % 977) / 1000;
  return values;
}

TEST(Windows, HaveWeightsThatSumToOneAtEveryVoxel) {
  for (const double overlap : {0.0, 0.25, 0.5, 0.8}) {
    const Windows windows = make_windows({50, 17, 16}, {16, 16, 16}, overlap);
    const std::vector<float> ones(16 * 16 * 16, 1.0f);
    const std::vector<float> sums = stitch(windows, 1, [&](const VoxelBox&) { return ones; });
    ASSERT_EQ(sums.size(), 50u * 17 * 16);
    for (float sum : sums) EXPECT_NEAR(sum, 1, 1e-6);
  }
}

TEST(Windows, LieEvenlyFromEdgeToEdgeAndOverlapAsAsked) {
  const Windows windows = make_windows({64, 40, 16}, {16, 16, 16}, 0.5);
  EXPECT_EQ(windows.axes[0].starts, (std::vector<std::int64_t>{0, 8, 16, 24, 32, 40, 48}));
  EXPECT_EQ(windows.axes[1].starts, (std::vector<std::int64_t>{0, 8, 16, 24}));
  EXPECT_EQ(windows.axes[2].starts, (std::vector<std::int64_t>{0}));
  EXPECT_EQ(windows.count(), 28u);
  EXPECT_EQ(make_windows({64, 40, 16}, {16, 16, 16}, 0).axes[1].starts,
            (std::vector<std::int64_t>{0, 12, 24}));
}

TEST(Windows, AsLargeAsTheVolumeGiveEveryBitOfWhatWasComputed) {
  const std::vector<float> expected = ramp(8 * 6 * 4 * 3);
  const Windows windows = make_windows({8, 6, 4}, {8, 6, 4}, 0.5);
  EXPECT_EQ(stitch(windows, 3, [&](const VoxelBox&) { return expected; }), expected);
}

// Also checks that never more planes are held than a window has.
TEST(Windows, HandOnPlanesAsTheyAreDoneWithEveryBitOfTheWhole) {
  const Size3 size{20, 9, 29};
  const std::vector<float> input = ramp(20 * 9 * 29 * 2);
  for (const double overlap : {0.0, 0.3, 0.5, 0.8}) {
    const Windows windows = make_windows(size, {8, 5, 6}, overlap);
    const auto compute = [&](const VoxelBox& box) { return cut(input, size, box, 2); };
    std::vector<float> handed_on, summed(input.size());
    stitch(windows, 2, compute, [&](std::span<const float> planes) {
      EXPECT_LE(planes.size(), 20u * 9 * 6 * 2);
      handed_on.insert(handed_on.end(), planes.begin(), planes.end());
    });
    for (std::size_t number = 0; number < windows.count(); ++number) {
      const VoxelBox box = windows.box(number);
      const std::vector<float> part = compute(box);
      const auto axis_weights = [&](std::size_t axis) {
        const auto& starts = windows.axes[axis].starts;
        return windows.axes[axis].weights[static_cast<std::size_t>(
            std::find(starts.begin(), starts.end(), box.start[axis]) - starts.begin())];
      };
      const std::vector<float> wx = axis_weights(0), wy = axis_weights(1), wz = axis_weights(2);
      for (std::size_t i = 0; i < part.size(); ++i) {
        const std::size_t x = i / 2 % 8, y = i / 16 % 5, z = i / 80;
        const auto at = [&](std::size_t axis, std::size_t offset) {
          return static_cast<std::size_t>(box.start[axis]) + offset;
        };
        summed[2 * ((at(2, z) * 9 + at(1, y)) * 20 + at(0, x)) + i % 2] += wx[x] * (wy[y] * wz[z]) * part[i];
      }
    }
    EXPECT_EQ(handed_on, summed) << overlap;
    EXPECT_EQ(handed_on, stitch(windows, 2, compute)) << overlap;
  }
}

TEST(Windows, PutBackWhatWasCutWhereverTheyLie) {
  const Size3 size{20, 9, 13};
  const std::vector<float> whole = ramp(20 * 9 * 13 * 2);
  const Windows windows = make_windows(size, {8, 9, 5}, 0.5);
  const std::vector<float> stitched =
      stitch(windows, 2, [&](const VoxelBox& box) { return cut(whole, size, box, 2); });
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(stitched[i], whole[i], 1e-6);
}

// Sums in a scratch file, with a plane in memory at a time.
TEST(Windows, InAScratchFileHaveEveryBitOfThoseInMemory) {
  const test::TemporaryFolder folder;
  const Size3 size{20, 9, 29}, window{8, 5, 6};
  const std::vector<float> input = ramp(20 * 9 * 29 * 2);
  const auto planes_of = [&](WindowSums& sums) {
    std::vector<float> all;
    for (std::vector<VoxelBox> layer = sums.layer(); !layer.empty(); layer = sums.layer()) {
      for (const VoxelBox& box : layer) sums.add(box, 0, cut(input, size, box, 2));
      sums.finish_layer([&](auto planes) { all.insert(all.end(), planes.begin(), planes.end()); });
    }
    return all;
  };
  for (const double overlap : {0.0, 0.5, 0.8}) {
    Scratch memory, file{0, folder.path(), 1};
    GaussianSums gaussian(make_windows(size, window, overlap), 2, memory),
        gaussian_in_file(make_windows(size, window, overlap), 2, file);
    EXPECT_EQ(planes_of(gaussian_in_file), planes_of(gaussian)) << overlap;
    NnunetSums nnunet(size, window, overlap, 2, memory), nnunet_in_file(size, window, overlap, 2, file);
    EXPECT_EQ(planes_of(nnunet_in_file), planes_of(nnunet)) << overlap;
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
  Scratch missing{0, folder.path() / "missing", 1};
  EXPECT_THROW(GaussianSums(make_windows(size, window, 0.5), 2, missing), Error);
}

// nnU-Net's Gaussian: its deviation is an eighth of the window's side.
TEST(Windows, TrustTheMiddleByAGaussianOfAnEighthOfTheirSide) {
  const WindowAxis axis = make_windows({24, 16, 16}, {16, 16, 16}, 0.5).axes[0];
  ASSERT_EQ(axis.starts, (std::vector<std::int64_t>{0, 8}));
  const auto gaussian = [](double away) { return std::exp(-away * away / (2 * 2 * 2)); };
  for (std::size_t i = 8; i < 16; ++i) {  // both windows cover these
    const double first = gaussian(static_cast<double>(i) - 7.5),
                 second = gaussian(static_cast<double>(i) - 15.5);
    EXPECT_NEAR(axis.weights[0][i], first / (first + second), 1e-6);
    EXPECT_NEAR(axis.weights[1][i - 8], second / (first + second), 1e-6);
  }
  EXPECT_EQ(axis.weights[0][3], 1);  // only the first covers this
}

}  // namespace
}  // namespace voxswap::pipeline
