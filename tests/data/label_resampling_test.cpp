// Resampled labels keep their place and their size, at ratios at which voxel centres lie halfway between
// voxels, too.
#include "data/volumes/label_resampling.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/data/support.h"

namespace voxswap::data {
namespace {

constexpr Spacing centre{23.7, 25.1, 21.9};  // in voxels of 48^3

// A ball of label 1 in a shell of label 2.
LabelMap ball() {
  LabelMap labels{test::geometry({48, 48, 48}), {}};
  for_each_voxel({48, 48, 48}, [&](auto x, auto y, auto z) {
    const double r = std::hypot(static_cast<double>(x) - centre[0], static_cast<double>(y) - centre[1],
                                static_cast<double>(z) - centre[2]);
    labels.voxels.push_back(r < 11.3 ? 1 : r < 16.4 ? 2 : 0);
  });
  return labels;
}

struct Moments {
  double volume = 0;  // in voxels of 48^3
  Spacing mean{};
};

Moments moments(const LabelMap& labels, std::int16_t least) {
  const Size3& size = labels.geometry.size;
  Moments found;
  for_each_voxel(size, [&](auto x, auto y, auto z) {
    if (labels.at(x, y, z) == 0 || labels.at(x, y, z) > least) return;
    ++found.volume;
    const Size3 at{x, y, z};
    for (std::size_t axis = 0; axis < 3; ++axis)
      found.mean[axis] += (static_cast<double>(at[axis]) + 0.5) * 48 / static_cast<double>(size[axis]) - 0.5;
  });
  for (double& one : found.mean) one /= found.volume;
  found.volume *= std::pow(48.0 / static_cast<double>(size[0]), 3);
  return found;
}

void expect_the_ball(const LabelMap& labels) {
  const std::string size = std::to_string(labels.geometry.size[0]);
  for (const auto& [least, radius] : {std::pair<std::int16_t, double>{1, 11.3}, {2, 16.4}}) {
    const Moments found = moments(labels, least);
    const double volume = 4.0 / 3 * 3.14159265 * std::pow(radius, 3);
    EXPECT_NEAR(found.volume / volume, 1, 0.03) << size;
    for (std::size_t axis = 0; axis < 3; ++axis) EXPECT_NEAR(found.mean[axis], centre[axis], 0.1) << size;
  }
}

TEST(ResampledLabels, KeepTheirPlaceAndTheirVolume) {
  const LabelMap labels = ball();
  for (const std::int64_t side : {24, 36, 16, 40, 64, 96}) {
    expect_the_ball(resample_nearest(labels, {side, side, side}));
    expect_the_ball(resample_shares(labels, {side, side, side}));
  }
}

TEST(ResampledLabels, AreTheMostFrequentOfEquallyNearVoxels) {
  const LabelMap labels{test::geometry({2, 2, 2}), {0, 0, 0, 5, 5, 0, 5, 5}};
  EXPECT_EQ(resample_nearest({test::geometry({2, 2, 1}), {0, 3, 3, 3}}, {1, 1, 1}).voxels[0], 3);
  EXPECT_EQ(resample_nearest({test::geometry({4, 1, 1}), {1, 2, 1, 2}}, {2, 1, 1}).voxels,
            (std::vector<std::int16_t>{1, 2}));  // alternating sides
  for (const std::int16_t label : {std::int16_t{0}, std::int16_t{5}}) {
    LabelMap most = labels;
    most.voxels[0] = label;
    most.voxels[1] = label;
    EXPECT_EQ(resample_nearest(most, {1, 1, 1}).voxels[0], label == 5 ? 5 : 0);
  }
}

}  // namespace
}  // namespace voxswap::data
