// Resampling to a spacing, compared with ITK's splines and with one map per label.
#include "data/volumes/spline.h"

#include <itkBSplineInterpolateImageFunction.h>
#include <itkImage.h>

#include <cmath>

#include "data/prepare/prepare.h"
#include "data/volumes/label_resampling.h"
#include "data/volumes/transforms.h"
#include "tests/data/support.h"

namespace voxswap::data {
namespace {

using namespace test;

// Values in double at the positions given by aligned voxel centres.
std::vector<double> by_itk(const Image& image, const Size3& size) {
  using ItkImage = itk::Image<float, 3>;
  const auto input = ItkImage::New();
  ItkImage::SizeType sides;
  for (unsigned axis = 0; axis < 3; ++axis)
    sides[axis] = static_cast<itk::SizeValueType>(image.geometry.size[axis]);
  input->SetRegions(sides);
  input->Allocate();
  std::copy(image.voxels.begin(), image.voxels.end(), input->GetBufferPointer());
  const auto spline = itk::BSplineInterpolateImageFunction<ItkImage, double, double>::New();
  spline->SetSplineOrder(3);
  spline->SetInputImage(input);
  std::vector<double> values;
  itk::ContinuousIndex<double, 3> place;
  const auto at = [&](unsigned axis, std::int64_t i) {
    return (static_cast<double>(i) + 0.5) * static_cast<double>(image.geometry.size[axis]) /
               static_cast<double>(size[axis]) -
           0.5;
  };
  for_each_voxel(size, [&](auto x, auto y, auto z) {
    place[0] = at(0, x);
    place[1] = at(1, y);
    place[2] = at(2, z);
    values.push_back(spline->EvaluateAtContinuousIndex(place));
  });
  return values;
}

TEST(CubicResampling, AgreesWithItkCalledDirectly) {
  for (const Size3& from : {Size3{31, 29, 30}, Size3{9, 40, 5}}) {
    const Image image = random_image(oblique_geometry(from));
    for (const Size3& size : {Size3{40, 40, 40}, Size3{17, 33, 12}, Size3{9, 29, 60}}) {
      const Image ours = resample_cubic(image, size);
      const std::vector<double> theirs = by_itk(image, size);
      ASSERT_EQ(ours.voxels.size(), theirs.size());
      double worst = 0;
      for (std::size_t i = 0; i < theirs.size(); ++i)
        worst = std::max(worst, std::fabs(ours.voxels[i] - theirs[i]));
      EXPECT_LE(worst, 2e-6) << from[0] << " to " << size[0] << "x" << size[1] << "x" << size[2];
      EXPECT_EQ(ours.geometry, resample_geometry(image.geometry, size));
    }
  }
}

TEST(CubicResampling, AlongSlicesTakesTheNearest) {
  const Image image = random_image(geometry({12, 10, 4}));
  const Image ours = resample_cubic(image, {12, 10, 8}, 2);
  for_each_voxel({12, 10, 8},
                 [&](auto x, auto y, auto z) { ASSERT_EQ(ours.at(x, y, z), image.at(x, y, z / 2)); });
}

TEST(SharesOfLabels, AreThoseOfMapsThatAreResampledOneByOne) {
  const LabelMap labels = random_labels(geometry({13, 11, 9}), {0, 1, 2, 7});
  for (const Size3& size : {Size3{20, 17, 14}, Size3{6, 11, 5}}) {
    const LabelMap ours = resample_shares(labels, size);
    std::vector<float> most(ours.voxels.size(), -1.0F), of_ours(ours.voxels.size());
    for (const std::int16_t label : {0, 1, 2, 7}) {
      Image one{labels.geometry, {}};
      for (const std::int16_t value : labels.voxels) one.voxels.push_back(value == label ? 1.0F : 0.0F);
      const Image share = resample_linear(one, size);
      for (std::size_t i = 0; i < most.size(); ++i) {
        most[i] = std::max(most[i], share.voxels[i]);
        if (ours.voxels[i] == label) of_ours[i] = share.voxels[i];
      }
    }
    for (std::size_t i = 0; i < most.size(); ++i) ASSERT_NEAR(of_ours[i], most[i], 1e-6);
  }
  EXPECT_EQ(resample_shares(labels, {13, 11, 9}).voxels, labels.voxels);
}

TEST(CoarseAxis, IsOneWithVoxelsMoreThanThreeTimesAsLongAsTheOthers) {
  EXPECT_EQ(coarse_axis({1, 1, 6}), std::optional<std::size_t>(2));
  EXPECT_EQ(coarse_axis({4, 1, 1.2}), std::optional<std::size_t>(0));
  EXPECT_EQ(coarse_axis({1, 1, 3}), std::nullopt);
  EXPECT_EQ(coarse_axis({1, 4, 4}), std::nullopt);
}

// nnU-Net's rule, computed by hand: medians, and the 10th percentile along thick slices.
TEST(TargetSpacing, IsTheMedianAndFinerAlongThickSlices) {
  std::vector<Geometry> grids;
  for (const double thickness : {4.0, 5.0, 6.0, 6.0, 6.0}) {
    Geometry grid = geometry({200, 220, 20});
    grid.spacing = {1, 1.5, thickness};
    grids.push_back(grid);
  }
  EXPECT_EQ(target_spacing(grids), (Spacing{1, 1.5, 4.4}));
  for (Geometry& grid : grids) grid.size[2] = 100;  // many slices: the median
  EXPECT_EQ(target_spacing(grids), (Spacing{1, 1.5, 6}));
}

}  // namespace
}  // namespace voxswap::data
