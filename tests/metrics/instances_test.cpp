// Detected lesions and boundaries on masks small enough to count by hand; random_label_maps_test.cpp compares
// random ones with SciPy.
#include "metrics/instances.h"

#include <gtest/gtest.h>

#include <cmath>

#include "metrics/surface.h"

namespace voxswap::metrics {
namespace {

// A row of voxels: '#' is inside.
Mask row(const std::string& voxels) {
  Mask mask;
  mask.size = {static_cast<std::int64_t>(voxels.size()), 1, 1};
  for (const char voxel : voxels) mask.voxels.push_back(voxel == '#');
  return mask;
}

TEST(Instances, AreTheSameLesionWhereTheyShareMoreThanHalfOfTheirUnion) {
  const InstanceCounts counts = count_instances(row("####..####..##....."), row("###...##....##..###"));
  EXPECT_EQ(counts.matched, 2);  // 3 of 4, and 2 of 2; 2 of 4 is not more than half
  EXPECT_EQ(counts.missed, 1);
  EXPECT_EQ(counts.false_positives, 2);
  EXPECT_DOUBLE_EQ(detection_f1(counts, EmptyRule::brats), 4.0 / 7);
  EXPECT_DOUBLE_EQ(panoptic_quality(counts, EmptyRule::brats), (0.75 + 1) / 3.5);
}

TEST(Instances, OfNothingScoreByTheRule) {
  const InstanceCounts none = count_instances(row("...."), row("...."));
  EXPECT_EQ(detection_f1(none, EmptyRule::brats), 1);
  EXPECT_EQ(panoptic_quality(none, EmptyRule::brats), 1);
  EXPECT_TRUE(std::isnan(panoptic_quality(none, EmptyRule::nnunet)));
  EXPECT_EQ(panoptic_quality(count_instances(row(".#.."), row("....")), EmptyRule::nnunet), 0);
}

TEST(BoundaryIou, ComparesOnlyRims) {
  // Every voxel of a row is on the surface: its neighbours across are outside.
  EXPECT_DOUBLE_EQ(boundary_iou(rim_overlap(row(".####."), row("..####"), 0.5, {1, 1, 1}), EmptyRule::brats),
                   3.0 / 5);
  Mask cube, smaller;
  cube.size = smaller.size = {5, 5, 5};
  cube.voxels.assign(125, 1);
  smaller.voxels.assign(125, 1);
  smaller.voxels[62] = 0;  // the centre, which is not in the rim of the whole cube
  const Overlap thin = rim_overlap(cube, smaller, 0.5, {1, 1, 1}),
                wide = rim_overlap(cube, smaller, 9, {1, 1, 1});
  EXPECT_EQ(thin.truth, 98);
  EXPECT_EQ(thin.prediction, 104) << "and the six around the hole";
  EXPECT_DOUBLE_EQ(boundary_iou(thin, EmptyRule::brats), 98.0 / 104);
  EXPECT_DOUBLE_EQ(boundary_iou(wide, EmptyRule::brats), 124.0 / 125);
  EXPECT_EQ(boundary_iou(rim_overlap(row(".."), row(".."), 1, {1, 1, 1}), EmptyRule::brats), 1);
}

// The figure in docs/explanation/data_conventions.md, which compares it with Cheng et al.
TEST(BoundaryIou, HasBandsAsFarAsTheToleranceFromTheCentresOfSurfaceVoxels) {
  const auto ball = [](std::int64_t middle) {
    Mask mask;
    mask.size = {41, 41, 41};
    for (std::int64_t z = -20; z <= 20; ++z)
      for (std::int64_t y = -20; y <= 20; ++y)
        for (std::int64_t x = -20; x <= 20; ++x)
          mask.voxels.push_back((x - middle) * (x - middle) + y * y + z * z <= 100);
    return mask;
  };
  EXPECT_NEAR(boundary_iou(rim_overlap(ball(0), ball(1), 1, {1, 1, 1}), EmptyRule::brats), 0.5477, 5e-5);
}

}  // namespace
}  // namespace voxswap::metrics
