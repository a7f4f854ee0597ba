// Tests volumes that are smaller than the network's input: where they are placed, and the values of the
// padding.
#include <gtest/gtest.h>

#include <numeric>

#include "base/philox.h"
#include "pipeline/cases/patches.h"
#include "pipeline/cases/windows.h"

namespace voxswap::pipeline {
namespace {

const Size3 grid_size{3, 9, 4};

data::PreparedCase small_case() {
  data::PreparedCase prepared;
  prepared.size = grid_size;
  prepared.channels = 2;
  prepared.image.resize(2 * 108);
  std::iota(prepared.image.begin(), prepared.image.end(), 1.0F);
  prepared.truth.assign(108, 5);
  prepared.background = {-1, -2};
  prepared.original.size = grid_size;
  prepared.original.origin = {10, 20, 30};
  prepared.box = {{0, 0, 0}, grid_size};
  return prepared;
}

TEST(Padding, PutsTheVolumeIntoTheMiddleWithBackgroundAround) {
  const data::PreparedCase whole = small_case();
  const VoxelBox box = padded_box(grid_size, {8, 8, 5});
  EXPECT_EQ(box, (VoxelBox{{-2, 0, 0}, {8, 9, 5}}));
  const data::PreparedCase padded = cut_case(whole, box);
  EXPECT_EQ(padded.size, box.size);
  EXPECT_EQ(padded.image[0], -1);
  EXPECT_EQ(padded.image[1], -2);
  EXPECT_EQ(padded.image[2 * 2], 1);
  EXPECT_EQ(padded.truth[1], 0);
  EXPECT_EQ(padded.truth[2], 5);
  EXPECT_DOUBLE_EQ(padded.training_geometry().origin[0], 8);
  EXPECT_EQ(std::count(padded.truth.begin(), padded.truth.end(), 5), 108);
  const VoxelBox back = without_padding(box, grid_size);
  EXPECT_EQ(cut(padded.image, padded.size, back, 2), whole.image);
}

TEST(Padding, IsTakenOffPlanesThatComeAFewAtATime) {
  const data::PreparedCase whole = small_case();
  const VoxelBox box = padded_box(grid_size, {6, 10, 9});
  const std::vector<float> padded = cut_case(whole, box).image;
  for (const std::size_t planes : {1, 2, 4, 9}) {
    std::vector<float> found;
    const TakePlanes take =
        planes_of(without_padding(box, grid_size), box.size, 2,
                  [&](std::span<const float> some) { found.insert(found.end(), some.begin(), some.end()); });
    const std::size_t step = planes * 6 * 10 * 2;
    for (std::size_t at = 0; at < padded.size(); at += step)
      take(std::span(padded).subspan(at, std::min(step, padded.size() - at)));
    EXPECT_EQ(found, whole.image) << planes;
  }
}

TEST(Patches, OfASmallerVolumeHaveItInTheirMiddleAlongThatAxis) {
  const std::vector<std::int16_t> truth(108, 1);
  std::set<std::int64_t> seen;
  for (std::uint32_t number = 0; number < 50; ++number) {
    const VoxelBox box =
        draw_patch(label_planes(truth, grid_size), truth, grid_size, {8, 4, 4}, 1, 1, number, 0.5);
    EXPECT_EQ(box.start[0], -2);
    EXPECT_EQ(box.start[2], 0);
    EXPECT_GE(box.start[1], 0);
    EXPECT_LE(box.start[1], 5);
    seen.insert(box.start[1]);
  }
  EXPECT_EQ(seen.size(), 6u);
}

}  // namespace
}  // namespace voxswap::pipeline
