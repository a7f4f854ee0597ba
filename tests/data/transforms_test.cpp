#include "data/volumes/transforms.h"

#include <algorithm>
#include <set>

#include "data/layouts/dataset.h"
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

TEST(TheSymmetries, FormAGroup) {
  const Size3 size{3, 3, 3};
  const std::vector<float> voxels = numbered(27);
  std::set<std::vector<float>> images;
  for (int i = 0; i < 48; ++i) images.insert(apply(symmetry(i), voxels, size, 1));
  for (int i = 0; i < 48; ++i) {
    for (int j = 0; j < 48; ++j) {
      ASSERT_TRUE(images.contains(apply(symmetry(i), apply(symmetry(j), voxels, size, 1), size, 1)))
          << i << " after " << j;
    }
  }
}

TEST(ASymmetry, ReadsTheAxesItNamesAndRunsBackwardsWhereItSays) {
  const Size3 size{2, 3, 4};
  const std::vector<float> voxels = numbered(24);
  const Symmetry turn{{1, 2, 0}, {true, false, false}};
  const std::vector<float> turned = apply(turn, voxels, size, 1);
  for (std::size_t z = 0; z < 2; ++z) {      // output z reads input x
    for (std::size_t y = 0; y < 4; ++y) {    // output y reads input z
      for (std::size_t x = 0; x < 3; ++x) {  // output x reads input y, backwards
        EXPECT_EQ(turned[(z * 4 + y) * 3 + x], voxels[(y * 3 + (2 - x)) * 2 + z]);
      }
    }
  }
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
  const std::vector<std::int16_t> labels{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13,
                                         14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26};
  const std::vector<float> voxels(labels.begin(), labels.end());
  const std::vector<std::uint8_t> bits(labels.begin(), labels.end());
  for (const int i : {5, 17, 42}) {
    const auto turned = apply(symmetry(i), voxels, size, 1);
    const auto turned_labels = apply(symmetry(i), labels, size, 1);
    const auto turned_bits = apply(symmetry(i), bits, size, 1);
    EXPECT_TRUE(std::equal(turned.begin(), turned.end(), turned_labels.begin()));
    EXPECT_TRUE(std::equal(turned.begin(), turned.end(), turned_bits.begin()));
  }
}

}  // namespace
}  // namespace voxswap::data
