// Tests that patches lie inside the volume, depend only on (seed, epoch, number), and contain rare labels.
#include "pipeline/cases/patches.h"

#include <gtest/gtest.h>

#include <map>

namespace voxswap::pipeline {
namespace {

const Size3 volume_size{20, 16, 12}, patch{8, 8, 8};

std::size_t at(std::int64_t x, std::int64_t y, std::int64_t z) {
  return static_cast<std::size_t>((z * volume_size[1] + y) * volume_size[0] + x);
}

// One voxel of label 1 in a corner, many of label 2 in the opposite corner.
std::vector<std::int16_t> truth() {
  std::vector<std::int16_t> labels(static_cast<std::size_t>(volume_size[0] * volume_size[1] * volume_size[2]),
                                   0);
  labels[at(0, 0, 0)] = 1;
  for (std::int64_t x = 14; x < 20; ++x) {
    for (std::int64_t y = 10; y < 16; ++y) labels[at(x, y, 11)] = 2;
  }
  return labels;
}

bool holds(const VoxelBox& box, const Size3& voxel) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (voxel[axis] < box.start[axis] || voxel[axis] >= box.start[axis] + box.size[axis]) return false;
  }
  return true;
}

VoxelBox draw(const std::vector<std::int16_t>& labels, std::uint64_t seed, std::uint64_t epoch,
              std::uint32_t number, double foreground = 1.0 / 3) {
  return draw_patch(label_planes(labels, volume_size), labels, volume_size, patch, seed, epoch, number,
                    foreground);
}

TEST(Patches, LieInsideTheVolumeAndComeFromSeedEpochAndNumberAlone) {
  std::map<Size3, int> seen;
  for (std::uint32_t number = 0; number < 300; ++number) {
    const VoxelBox box = draw(truth(), 5, 2, number);
    EXPECT_EQ(box, draw(truth(), 5, 2, number));
    EXPECT_EQ(box.size, patch);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      EXPECT_GE(box.start[axis], 0);
      EXPECT_LE(box.start[axis] + patch[axis], volume_size[axis]);
    }
    ++seen[box.start];
  }
  EXPECT_GT(seen.size(), 100u);
  EXPECT_NE(draw(truth(), 5, 2, 0), draw(truth(), 5, 3, 0));
}

// A third of the patches is drawn around a label, half of these around the only voxel of label 1: a sixth.
// The others contain it in 1 of 13 x 9 x 5 positions.
TEST(Patches, SeeARareLabelInASixthOfThem) {
  constexpr int count = 6000;
  int rare = 0;
  for (std::uint32_t number = 0; number < count; ++number)
    rare += holds(draw(truth(), 1, 1, number), {0, 0, 0});
  EXPECT_NEAR(rare / double{count}, 1.0 / 6 + 2.0 / 3 / (13 * 9 * 5), 0.02);
}

// If all patches are drawn around labels, half of them contain the voxel of label 1; if none are, only by
// chance.
TEST(Patches, AreDrawnAroundLabelsAsOftenAsIsAskedFor) {
  constexpr int count = 4000;
  int always = 0, never = 0;
  for (std::uint32_t number = 0; number < count; ++number) {
    always += holds(draw(truth(), 1, 1, number, 1), {0, 0, 0});
    never += holds(draw(truth(), 1, 1, number, 0), {0, 0, 0});
  }
  EXPECT_NEAR(always / double{count}, 0.5, 0.03);
  EXPECT_LT(never / double{count}, 0.01) << "1 of 13 x 9 x 5 places";
}

TEST(Patches, AreDrawnAnywhereWhereThereIsNoLabel) {
  const std::vector<std::int16_t> nothing(truth().size(), 0);
  std::map<Size3, int> seen;
  for (std::uint32_t number = 0; number < 3000; ++number) ++seen[draw(nothing, 1, 1, number).start];
  EXPECT_GT(seen.size(), 500u);  // of 585 places
}

TEST(Patches, KeepTheirPlaceInTheWorldAndTheStatisticsOfTheWhole) {
  data::PreparedCase whole;
  whole.size = volume_size;
  whole.channels = 2;
  whole.image.resize(2 * truth().size());
  whole.image[2 * at(5, 6, 7) + 1] = 3;
  whole.truth = truth();
  whole.statistics.mean = {1, 2};
  whole.statistics.deviation = {3, 4};
  whole.original.size = {40, 32, 24};
  whole.original.spacing = {0.5, 0.5, 2};
  whole.original.origin = {10, 20, 30};
  whole.box = {{0, 0, 0}, whole.original.size};
  const data::PreparedCase part = cut_case(whole, {{4, 5, 4}, patch});
  EXPECT_EQ(part.size, patch);
  EXPECT_EQ(part.statistics.mean, whole.statistics.mean);
  EXPECT_EQ(part.image[2 * ((3 * 8 + 1) * 8 + 1) + 1], 3);
  EXPECT_EQ(part.truth.size(), 512u);
  const data::Geometry place = part.training_geometry(), all = whole.training_geometry();
  EXPECT_EQ(place.spacing, (Spacing{1, 1, 4}));
  EXPECT_DOUBLE_EQ(place.origin[0], all.origin[0] + 4 * 1.0);
  EXPECT_DOUBLE_EQ(place.origin[2], all.origin[2] + 4 * 4.0);
}

TEST(Patches, OfAnEpochMakeAboutAWholeVolume) {
  Experiment experiment;
  experiment.preprocess.resolution = {192, 192, 192};
  EXPECT_EQ(patches_per_case(experiment), 1);
  EXPECT_EQ(input_size(experiment), experiment.preprocess.resolution);
  experiment.training.patch = {128, 128, 128};
  EXPECT_EQ(patches_per_case(experiment), 3);  // 3.375
  EXPECT_EQ(input_size(experiment), (Size3{128, 128, 128}));
}

}  // namespace
}  // namespace voxswap::pipeline
