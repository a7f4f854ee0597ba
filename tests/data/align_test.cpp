// Resampling one grid onto another equals ITK's, and `data.align` is what lets a case need it.
#include <itkImage.h>
#include <itkLinearInterpolateImageFunction.h>
#include <itkNearestNeighborInterpolateImageFunction.h>
#include <itkResampleImageFilter.h>

#include <cmath>

#include "data/cases/read_case.h"
#include "data/formats/image_io.h"
#include "data/formats/image_writing.h"
#include "data/layouts/dataset.h"
#include "data/layouts/open_dataset.h"
#include "data/volumes/orientation.h"
#include "data/volumes/transforms.h"
#include "tests/data/support.h"

namespace voxswap::data {
namespace {

using namespace test;
using ItkImage = itk::Image<float, 3>;

ItkImage::Pointer as_itk(const Geometry& geometry, const std::vector<float>& voxels) {
  const auto image = ItkImage::New();
  ItkImage::SizeType size;
  ItkImage::SpacingType spacing;
  ItkImage::PointType origin;
  ItkImage::DirectionType direction;
  for (unsigned i = 0; i < 3; ++i) {
    size[i] = static_cast<itk::SizeValueType>(geometry.size[i]);
    spacing[i] = geometry.spacing[i];
    origin[i] = geometry.origin[i];
    for (unsigned j = 0; j < 3; ++j) direction[i][j] = geometry.direction[i * 3 + j];
  }
  image->SetRegions(size);
  image->SetSpacing(spacing);
  image->SetOrigin(origin);
  image->SetDirection(direction);
  image->Allocate();
  std::copy(voxels.begin(), voxels.end(), image->GetBufferPointer());
  return image;
}

template <class Interpolator>
std::vector<float> resampled_by_itk(const Geometry& grid, const Geometry& moving,
                                    const std::vector<float>& voxels, float outside) {
  const auto filter = itk::ResampleImageFilter<ItkImage, ItkImage>::New();
  filter->SetInput(as_itk(moving, voxels));
  filter->SetInterpolator(Interpolator::New());
  filter->SetDefaultPixelValue(outside);
  const auto reference = as_itk(grid, std::vector<float>(static_cast<std::size_t>(grid.count()), 0));
  filter->UseReferenceImageOn();
  filter->SetReferenceImage(reference);
  filter->Update();
  const float* values = filter->GetOutput()->GetBufferPointer();
  return {values, values + grid.count()};
}

// A fixed grid and one that is turned against it, coarser, and overlaps it in part.
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
  const auto itks =
      resampled_by_itk<itk::LinearInterpolateImageFunction<ItkImage>>(fixed, moving, image.voxels, -7);
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
  const std::vector<float> as_float(labels.voxels.begin(), labels.voxels.end());
  const auto itks =
      resampled_by_itk<itk::NearestNeighborInterpolateImageFunction<ItkImage>>(fixed, moving, as_float, 0);
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
    options_.root = folder_.path();
    options_.files = {
        {"t1", "{case}_t1.nii.gz"}, {"t2", "{case}_t2.nii.gz"}, {"truth", "{case}_truth.nii.gz"}};
    options_.labels = {{"one", 1}};
  }
  TemporaryFolder folder_;
  DatasetOptions options_;
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
  const auto itks = resampled_by_itk<itk::LinearInterpolateImageFunction<ItkImage>>(
      volume.geometry(), t2.geometry, t2.voxels, corner_value(canonical(t2)));
  for (std::size_t i = 0; i < itks.size(); ++i) ASSERT_NEAR(volume.channels[1].voxels[i], itks[i], 1e-5);
  EXPECT_EQ(volume.truth.geometry, volume.geometry());
  EXPECT_EQ(volume.truth.voxels, resample_onto(volume.geometry(), truth).voxels);
}

}  // namespace
}  // namespace voxswap::data
