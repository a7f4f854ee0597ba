// Levels of U-Nets for volumes of several shapes.
#include <gtest/gtest.h>

#include "experiments/presets.h"

namespace voxswap::experiments {
namespace {

using Strides = std::vector<net::Along>;

TEST(Levels, RoundUpSidesUntilFourVoxelsAreLeft) {
  const Levels levels = levels_of({35, 50, 36}, {1, 1, 1}, 5, /*round_up=*/true);
  EXPECT_EQ(levels.size, (data::Size3{40, 56, 40}));
  EXPECT_EQ(levels.strides, (Strides{{1, 1, 1}, {2, 2, 2}, {2, 2, 2}, {2, 2, 2}}));
}

TEST(Levels, EndAtOddSidesWhereTheSizeIsGiven) {
  const Levels levels = levels_of({24, 20, 9}, {1, 1, 1}, 6, /*round_up=*/false);
  EXPECT_EQ(levels.size, (data::Size3{24, 20, 9}));
  EXPECT_EQ(levels.strides, (Strides{{1, 1, 1}, {2, 2, 1}, {2, 2, 1}}));
}

TEST(Levels, WaitWithAxesOfLongVoxels) {
  const Levels levels = levels_of({128, 128, 16}, {1, 1, 6}, 5, /*round_up=*/true);
  EXPECT_EQ(levels.strides, (Strides{{1, 1, 1}, {2, 2, 1}, {2, 2, 1}, {2, 2, 2}, {2, 2, 2}}));
  EXPECT_EQ(levels.kernels, (Strides{{3, 3, 1}, {3, 3, 1}, {3, 3, 3}, {3, 3, 3}, {3, 3, 3}}));
  EXPECT_EQ(levels.size, (data::Size3{128, 128, 16}));
}

TEST(Levels, WeightTheirLossesByHalves) {
  EXPECT_EQ(deep_supervision_weights(2), (std::vector<double>{1}));
  EXPECT_EQ(deep_supervision_weights(5), (std::vector<double>{1, 0.5, 0.25}));
}

}  // namespace
}  // namespace voxswap::experiments
