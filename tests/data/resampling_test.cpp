#include <itkImage.h>
#include <itkLinearInterpolateImageFunction.h>
#include <itkNearestNeighborInterpolateImageFunction.h>
#include <itkResampleImageFilter.h>

#include "data/cases/read_case.h"
#include "data/formats/image_io.h"
#include "data/formats/image_writing.h"
#include "data/layouts/open_dataset.h"
#include "data/volumes/label_resampling.h"
#include "data/volumes/orientation.h"
#include "data/volumes/transforms.h"
#include "tests/data/support.h"

namespace voxswap::data {
namespace {

using namespace test;

template <class T>
typename itk::Image<T, 3>::Pointer to_itk(const Grid<T>& grid) {
  using ItkImage = itk::Image<T, 3>;
  const auto image = ItkImage::New();
  typename ItkImage::SizeType size;
  typename ItkImage::PointType origin;
  typename ItkImage::SpacingType spacing;
  typename ItkImage::DirectionType direction;
  for (unsigned i = 0; i < 3; ++i) {
    size[i] = static_cast<itk::SizeValueType>(grid.geometry.size[i]);
    origin[i] = grid.geometry.origin[i];
    spacing[i] = grid.geometry.spacing[i];
    for (unsigned j = 0; j < 3; ++j) direction(i, j) = grid.geometry.direction[i * 3 + j];
  }
  image->SetRegions(size);
  image->SetOrigin(origin);
  image->SetSpacing(spacing);
  image->SetDirection(direction);
  image->Allocate();
  std::copy(grid.voxels.begin(), grid.voxels.end(), image->GetBufferPointer());
  return image;
}

// ITK's resampling onto the grid `target`, between voxel centres by world position. `outside` would appear
// where ITK considers a voxel outside.
template <class T, class Interpolator>
std::vector<T> by_itk(const Grid<T>& grid, const Geometry& target, T outside) {
  using ItkImage = itk::Image<T, 3>;
  const auto filter = itk::ResampleImageFilter<ItkImage, ItkImage>::New();
  filter->SetInput(to_itk(grid));
  filter->SetInterpolator(Interpolator::New());
  filter->SetReferenceImage(
      to_itk(Grid<T>{target, std::vector<T>(static_cast<std::size_t>(target.count()))}));
  filter->UseReferenceImageOn();
  filter->SetDefaultPixelValue(outside);
  filter->Update();
  const T* voxels = filter->GetOutput()->GetBufferPointer();
  return std::vector<T>(voxels, voxels + target.count());
}
std::vector<float> linear_by_itk(const Image& image, const Geometry& target, float outside = 99) {
  return by_itk<float, itk::LinearInterpolateImageFunction<itk::Image<float, 3>>>(image, target, outside);
}
std::vector<std::int16_t> nearest_by_itk(const LabelMap& labels, const Geometry& target,
                                         std::int16_t outside = 99) {
  using ItkImage = itk::Image<std::int16_t, 3>;
  return by_itk<std::int16_t, itk::NearestNeighborInterpolateImageFunction<ItkImage>>(labels, target,
                                                                                      outside);
}

// Up, down, both at once, and unchanged; even and odd ratios.
const std::vector<Size3> targets{{32, 32, 32}, {9, 11, 7},   {48, 5, 33},
                                 {19, 21, 17}, {38, 42, 34}, {1, 2, 3}};

TEST(Resampling, AgreesWithItkCalledDirectly) {
  const Image image = random_image(oblique_geometry({19, 21, 17}));
  for (const Size3& size : targets) {
    const Image ours = resample_linear(image, size);
    const auto theirs = linear_by_itk(image, ours.geometry);
    ASSERT_EQ(ours.voxels.size(), theirs.size());
    double worst = 0;
    for (std::size_t i = 0; i < theirs.size(); ++i)
      worst = std::max(worst, std::fabs(double{ours.voxels[i]} - theirs[i]));
    // Values are in [1, 2): one unit in the last place of a float is 1.2e-7.
    EXPECT_LE(worst, 2.4e-7) << size[0] << "x" << size[1] << "x" << size[2];
  }
}

// Sizes for which no new centre is exactly halfway between two old ones: ITK computes world coordinates and
// rounds such ties unpredictably.
TEST(NearestResampling, AgreesWithItkCalledDirectly) {
  const LabelMap labels = random_labels(oblique_geometry({19, 21, 17}), {0, 1, 2, 4});
  for (const Size3& size : {Size3{9, 11, 7}, Size3{57, 63, 51}, Size3{33, 5, 47}, Size3{38, 42, 34}}) {
    const LabelMap ours = resample_nearest(labels, size);
    const auto theirs = nearest_by_itk(labels, ours.geometry);
    EXPECT_EQ(ours.voxels, theirs) << size[0] << "x" << size[1] << "x" << size[2];
  }
}

TEST(Resampling, ToTheSameSizeChangesNothing) {
  const Image image = random_image(geometry({7, 8, 9}));
  EXPECT_EQ(resample_linear(image, {7, 8, 9}).voxels, image.voxels);
  EXPECT_EQ(resample_linear(image, {7, 8, 9}).geometry, image.geometry);
}

// src = (dst + 0.5) * 2 / 4 - 0.5 = -0.25, 0.25, 0.75, 1.25, and the ends are clamped.
TEST(Resampling, AlignsVoxelCentresAndClampsTheEdge) {
  const Image image{geometry({2, 1, 1}), {0, 8}};
  EXPECT_EQ(resample_linear(image, {4, 1, 1}).voxels, (std::vector<float>{0, 2, 6, 8}));
  const Geometry grid = resample_linear(image, {4, 1, 1}).geometry;
  EXPECT_EQ(grid.spacing[0], 0.5);
  EXPECT_EQ(grid.origin[0], -0.25);
}

TEST(ACrop, LiesWhereItsVoxelsLayInTheWorld) {
  const Geometry grid = oblique_geometry({12, 10, 9});
  const Image image = random_image(grid);
  const VoxelBox box{{2, 3, 1}, {6, 5, 7}};
  const Image part = crop(image, box);
  for (std::size_t row = 0; row < 3; ++row) {
    double expected = grid.origin[row];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      expected += grid.direction[row * 3 + axis] * grid.spacing[axis] * static_cast<double>(box.start[axis]);
    }
    EXPECT_NEAR(part.geometry.origin[row], expected, 1e-12);
  }
  EXPECT_EQ(part.at(0, 0, 0), image.at(2, 3, 1));
  EXPECT_EQ(part.at(5, 4, 6), image.at(7, 7, 7));
}

// --- Onto the grid of another image, for cases that need `data.align`

// A fixed grid, and one that is rotated against it, coarser, and overlaps it partly.
const Geometry fixed = [] {
  Geometry grid = geometry({17, 15, 12});
  grid.spacing = {1.0, 1.1, 1.3};
  grid.origin = {-85, 33, 10};
  return grid;
}();
const Geometry moving = oblique_geometry({13, 16, 9});

TEST(ResamplingOntoAnotherGrid, EqualsItksLinearInterpolation) {
  const Image image = random_image(moving);
  const Image ours = resample_onto(fixed, image, -7);
  const auto itks = linear_by_itk(image, fixed, -7);
  std::size_t outside = 0;
  for (std::size_t i = 0; i < itks.size(); ++i) {
    ASSERT_NEAR(ours.voxels[i], itks[i], 1e-6) << i;
    outside += itks[i] == -7;
  }
  EXPECT_GT(outside, itks.size() / 20);  // both kinds of voxels were compared
  EXPECT_LT(outside, itks.size() * 19 / 20);
  EXPECT_EQ(ours.geometry, fixed);
}

TEST(ResamplingOntoAnotherGrid, EqualsItksNearestNeighbourForLabels) {
  const LabelMap labels = random_labels(moving, {0, 1, 2, 4});
  const LabelMap ours = resample_onto(fixed, labels);
  const auto itks = nearest_by_itk(labels, fixed, 0);
  for (std::size_t i = 0; i < itks.size(); ++i) ASSERT_EQ(ours.voxels[i], itks[i]) << i;
}

TEST(ResamplingOntoAnotherGrid, ChangesNothingOnTheSameGrid) {
  const Image image = random_image(moving);
  EXPECT_EQ(resample_onto(moving, image, 0).voxels, image.voxels);
}

class Unaligned : public testing::Test {
 protected:
  Unaligned() {
    write_image(folder_ / "c_t1.nii.gz", random_image(fixed, 1));
    write_image(folder_ / "c_t2.nii.gz", random_image(moving, 2));
    write_label_map(folder_ / "c_truth.nii.gz", random_labels(moving, {0, 1}));
  }
  TemporaryFolder folder_;
  DatasetOptions options_ = files_by_name(folder_.path(), {{"one", 1}});
};

TEST_F(Unaligned, ChannelsAreRefusedUnlessResamplingIsAskedFor) {
  const Dataset dataset = open_dataset(options_);
  expect_failure([&] { read_case(dataset, dataset.cases[0]); }, Exit::bad_data,
                 {"c_t2.nii.gz", "c_t1.nii.gz", "data.align: true"});
}

TEST_F(Unaligned, ChannelsAndTruthAreResampledOntoTheFirstWhenAskedFor) {
  options_.align = true;
  const Dataset dataset = open_dataset(options_);
  const Volume volume = read_case(dataset, dataset.cases[0]);
  const Image t2 = read_image(folder_ / "c_t2.nii.gz");
  const LabelMap truth = read_label_map(folder_ / "c_truth.nii.gz");
  EXPECT_TRUE(same_grid(volume.geometry(), fixed));
  EXPECT_EQ(volume.channels[0].voxels, read_image(folder_ / "c_t1.nii.gz").voxels);
  const auto itks = linear_by_itk(t2, volume.geometry(), outside_value(t2));
  for (std::size_t i = 0; i < itks.size(); ++i) ASSERT_NEAR(volume.channels[1].voxels[i], itks[i], 1e-5);
  EXPECT_EQ(volume.truth.geometry, volume.geometry());
  EXPECT_EQ(volume.truth.voxels, resample_onto(volume.geometry(), truth).voxels);
}

}  // namespace
}  // namespace voxswap::data
