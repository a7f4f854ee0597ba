#include "data/volumes/transforms.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "base/float16.h"
#include "base/philox.h"
#include "data/layouts/dataset.h"
#include "data/volumes/channel_loops.h"
#include "tests/data/support.h"

namespace voxswap::data {
namespace {

using namespace test;

Image filled(const Size3& size, float value) {
  const Geometry grid = geometry(size);
  return {grid, std::vector<float>(static_cast<std::size_t>(grid.count()), value)};
}

TEST(TheForegroundBox, HoldsTheUnionOfAllChannelsWithOneVoxelOfMargin) {
  Image a = filled({10, 11, 12}, 0), b = filled({10, 11, 12}, -5);
  a.at(3, 4, 5) = 1;
  b.at(6, 7, 8) = 1;
  const std::vector<float> background{0, -5};
  EXPECT_EQ(foreground_box({a, b}, background), (VoxelBox{{2, 3, 4}, {6, 6, 6}}));
}

TEST(TheForegroundBox, IsClampedToTheGrid) {
  Image image = filled({10, 11, 12}, 0);
  image.at(0, 10, 5) = 1;
  const std::vector<float> background{0};
  EXPECT_EQ(foreground_box({image}, background), (VoxelBox{{0, 9, 4}, {2, 2, 3}}));
}

TEST(TheForegroundBox, IsTheWholeGridWhenThereIsNoForeground) {
  const std::vector<float> background{0};
  EXPECT_EQ(foreground_box({filled({10, 11, 12}, 0)}, background), (VoxelBox{{0, 0, 0}, {10, 11, 12}}));
  const std::vector<float> other{corner_value(filled({10, 11, 12}, -2.7F))};
  EXPECT_EQ(foreground_box({filled({10, 11, 12}, -2.7F)}, other), (VoxelBox{{0, 0, 0}, {10, 11, 12}}));
}

std::vector<float> numbered(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
  return values;
}

TEST(TheSymmetries, Are48DifferentOnesThatKeepEveryVoxel) {
  const Size3 size{3, 3, 3};
  const std::vector<float> voxels = numbered(27 * 2);
  std::set<std::vector<float>> images;
  for (int i = 0; i < 48; ++i) {
    std::vector<float> turned = apply(symmetry(i), voxels, size, 2);
    for (std::size_t v = 0; v < turned.size(); v += 2)
      ASSERT_EQ(turned[v] + 1, turned[v + 1]);  // channels of a voxel stay together
    images.insert(turned);
    std::sort(turned.begin(), turned.end());
    EXPECT_EQ(turned, voxels);
  }
  EXPECT_EQ(images.size(), 48U);
  EXPECT_EQ(apply(symmetry(0), voxels, size, 2), voxels);
}

TEST(ASymmetry, ReadsTheAxesItNamesAndRunsBackwardsWhereItSays) {
  const Size3 size{2, 3, 4};
  const std::vector<float> voxels = numbered(24);
  const Symmetry turn{{1, 2, 0}, {true, false, false}};
  const std::vector<float> turned = apply(turn, voxels, size, 1);
  // Output x reads input y backwards, output y input z, output z input x.
  for (std::size_t z = 0; z < 2; ++z)
    for (std::size_t y = 0; y < 4; ++y)
      for (std::size_t x = 0; x < 3; ++x)
        EXPECT_EQ(turned[(z * 4 + y) * 3 + x], voxels[(y * 3 + (2 - x)) * 2 + z]);
}

// Always eight flips, times the permutations of equal sides: 1, 2 or 6.
TEST(TheAllowedSymmetries, KeepABoxInShape) {
  EXPECT_EQ(allowed_symmetries({4, 4, 4}).size(), 48U);
  EXPECT_EQ(allowed_symmetries({4, 5, 4}).size(), 16U);
  EXPECT_EQ(allowed_symmetries({4, 5, 6}).size(), 8U);
  for (const int i : allowed_symmetries({4, 5, 4})) EXPECT_EQ(symmetry(i).axes[1], 1);
}

TEST(Labels, AreTurnedAsImagesAre) {
  const Size3 size{3, 3, 3};
  const std::vector<float> voxels = numbered(27);
  const std::vector<std::int16_t> labels(voxels.begin(), voxels.end());
  const std::vector<std::uint8_t> bits(voxels.begin(), voxels.end());
  for (const int i : {5, 17, 42}) {
    const auto turned = apply(symmetry(i), voxels, size, 1);
    const auto turned_labels = apply(symmetry(i), labels, size, 1);
    const auto turned_bits = apply(symmetry(i), bits, size, 1);
    EXPECT_TRUE(std::equal(turned.begin(), turned.end(), turned_labels.begin()));
    EXPECT_TRUE(std::equal(turned.begin(), turned.end(), turned_bits.begin()));
  }
}

// The vectorised loops over D,H,W,C arrays against plain ones, bit for bit.
std::vector<float> drawn_values(std::size_t count, std::uint64_t seed) {
  const Philox random(seed, 1);
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = random.uniform(i) - 0.5F;
  return values;
}

// Also for planes that come a few at a time.
TEST(ChannelLoops, AddAMirroredVolumeToOneThatIsNot) {
  const Size3 size{5, 4, 6};
  for (const std::int64_t channels : {1, 3, 40}) {
    const auto plane = static_cast<std::size_t>(5 * 4 * channels);
    const std::vector<float> values = drawn_values(plane * 6, 1);
    for (int flips = 0; flips < 8; ++flips) {
      const Symmetry mirror = symmetry(flips);
      std::vector<float> sum = drawn_values(values.size(), 2), expected = sum;
      const std::vector<float> back = apply(mirror, values, size, channels);
      for (std::size_t i = 0; i < back.size(); ++i) expected[i] += back[i];
      for (std::size_t z = 0; z < 6; z += 2)
        add_mirrored(std::span(values).subspan(z * plane, 2 * plane), static_cast<std::int64_t>(z), size,
                     channels, mirror.flips, sum);
      EXPECT_EQ(sum, expected) << channels << " " << flips;
    }
  }
}

TEST(ChannelLoops, AddAndDivideOnSeveralThreads) {
  std::vector<float> sum = drawn_values(3 * elements_per_thread + 5, 1), expected = sum;
  const std::vector<float> values = drawn_values(sum.size(), 2);
  for (std::size_t i = 0; i < sum.size(); ++i) expected[i] = (expected[i] + values[i]) / 3;
  add(values, sum);
  divide(sum, 3);
  EXPECT_EQ(sum, expected);
}

// Numbers of all signs and exponents, subnormal and infinite ones, and those that are none.
TEST(ChannelLoops, RoundToFloat16LikeItsConversions) {
  std::vector<float> values, expected;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += (bits % 4096 == 0 ? 1 : 4001)) {
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    expected.push_back(from_float16(to_float16(values.back())));
  }
  for (std::uint32_t half = 0; half < 0x7c00; ++half) {  // the middle between two of them, and its neighbours
    const float middle = (from_float16(static_cast<std::uint16_t>(half)) +
                          from_float16(static_cast<std::uint16_t>(half + 1))) /
                         2;
    for (const float value : {middle, std::nextafter(middle, 0.0F), std::nextafter(middle, 1e9F), -middle}) {
      values.push_back(value);
      expected.push_back(from_float16(to_float16(value)));
    }
  }
  round_to_half(values);
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(std::bit_cast<std::uint32_t>(values[i]), std::bit_cast<std::uint32_t>(expected[i]))
        << expected[i];
}

}  // namespace
}  // namespace voxswap::data
