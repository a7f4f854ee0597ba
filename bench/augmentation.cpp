// Processor time of augmentation per sample on one core, which other processes disturb less than wall time:
// the spatial transform (beside ITK's resampler for the same rotation and zoom), and each change of
// intensities in all channels.
//
//     augmentation [SIDE] [CHANNELS] [REPEATS]      prints name,milliseconds (the median of the repeats)
#include <itkAffineTransform.h>
#include <itkImage.h>
#include <itkLinearInterpolateImageFunction.h>
#include <itkNearestNeighborExtrapolateImageFunction.h>
#include <itkResampleImageFilter.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>

#include "data/augment/augment.h"
#include "pipeline/cases/sample_graph.h"

namespace {

using namespace voxswap;
using Itk = itk::Image<float, 3>;

data::NormalizedCase blob(std::int64_t side, std::int64_t channels) {
  data::NormalizedCase example{{side, side, side}, {1, 1, 1}, channels, {}, {}};
  const Philox random(1, 1);
  const auto voxels = static_cast<std::size_t>(side * side * side);
  example.image.resize(voxels * static_cast<std::size_t>(channels));
  for (std::size_t i = 0; i < example.image.size(); ++i) example.image[i] = random.uniform(i) - 0.5F;
  for (std::int64_t z = 0; z < side; ++z)
    for (std::int64_t y = 0; y < side; ++y)
      for (std::int64_t x = 0; x < side; ++x) {
        const double r = std::hypot(x - side / 2, y - side / 2, z - side / 2) / static_cast<double>(side);
        example.truth.push_back(r < 0.1 ? 4 : r < 0.15 ? 1 : r < 0.25 ? 2 : 0);
      }
  return example;
}

double seconds_of(const std::function<void()>& work) {
  const std::clock_t start = std::clock();  // processor time of the process
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

void report(const std::string& name, int repeats, const std::function<void()>& work) {
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) seconds.push_back(seconds_of(work));
  std::nth_element(seconds.begin(), seconds.begin() + repeats / 2, seconds.end());
  std::printf("\"%s\",%.2f\n", name.c_str(), 1e3 * seconds[static_cast<std::size_t>(repeats / 2)]);
  std::fflush(stdout);
}

// Resamples one channel with the rotation `degrees` and the zoom `factor` by ITK's resampler on one thread.
void with_itk(const Itk::Pointer& image, double degrees, double factor) {
  const auto transform = itk::AffineTransform<double, 3>::New();
  const Itk::SizeType size = image->GetLargestPossibleRegion().GetSize();
  itk::Point<double, 3> centre;
  for (unsigned i = 0; i < 3; ++i) centre[i] = (static_cast<double>(size[i]) - 1) / 2;
  transform->SetCenter(centre);
  for (unsigned axis = 0; axis < 3; ++axis) {
    itk::Vector<double, 3> about;
    about.Fill(0);
    about[axis] = 1;
    transform->Rotate3D(about, degrees * 3.14159265358979 / 180);
  }
  transform->Scale(1 / factor);
  const auto filter = itk::ResampleImageFilter<Itk, Itk>::New();
  filter->SetNumberOfWorkUnits(1);
  filter->SetInput(image);
  filter->SetTransform(transform);
  filter->SetInterpolator(itk::LinearInterpolateImageFunction<Itk, double>::New());
  filter->SetExtrapolator(itk::NearestNeighborExtrapolateImageFunction<Itk, double>::New());
  filter->SetSize(size);
  filter->Update();
}

}  // namespace

int main(int count, char** arguments) {
  const std::int64_t side = count > 1 ? std::atoll(arguments[1]) : 128,
                     channels = count > 2 ? std::atoll(arguments[2]) : 4;
  const int repeats = count > 3 ? std::atoi(arguments[3]) : 5;
  const data::NormalizedCase example = blob(side, channels);
  const data::SpatialChange turned{.degrees = {12, 12, 12}, .factors = {1.1, 1.1, 1.1}};
  data::SpatialChange bent = turned, flipped;
  bent.elastic = 2;
  flipped.symmetry = 1;
  data::AugmentOptions options = data::nnunet_augmentation();
  pipeline::SampleGraph graph(options, example.size, channels);
  const VoxelBox whole{{0, 0, 0}, example.size};
  std::vector<float> image(example.image.size());  // reused, as loader threads do
  for (const auto& [name, change] :
       {std::pair{"flip", flipped}, {"rotation and zoom", turned}, {"rotation, zoom and elastic", bent}}) {
    report(std::string(name) + ": image and labels", repeats, [&] {
      graph.make({{}, change, {}}, example, whole, image);
    });
  }
  const auto itk_image = Itk::New();
  Itk::SizeType size;
  size.Fill(static_cast<itk::SizeValueType>(side));
  itk_image->SetRegions(size);
  itk_image->Allocate();
  std::copy_n(example.image.begin(), example.truth.size(), itk_image->GetBufferPointer());
  report("rotation and zoom: image, ITK", repeats, [&] {
    for (std::int64_t c = 0; c < channels; ++c) with_itk(itk_image, 12, 1.1), itk_image->Modified();
  });

  const std::vector<std::pair<const char*, data::IntensityChange>> changes = {
      {"noise", {.noise = 0.1}},
      {"blur", {.blur = 0.75}},
      {"brightness", {.brightness = 1.1}},
      {"contrast", {.contrast = 1.1}},
      {"low resolution", {.low_resolution = 0.6}},
      {"gamma", {.gamma = 0.8}}};
  for (const auto& [name, change] : changes) {
    data::Augmentation augmentation;
    augmentation.channels.assign(static_cast<std::size_t>(channels), change);
    report(std::string(name) + ": image", repeats, [&] { graph.make(augmentation, example, whole, image); });
  }
  // The average cost of a sample.
  double total = 0;
  constexpr int samples = 40;
  for (int i = 0; i < samples; ++i) {
    const data::AugmentKey key{1, 1, static_cast<std::uint32_t>(i)};
    total += seconds_of([&] {
      graph.make(data::draw_augmentation(options, key, example.size, channels), example, whole, image);
    });
  }
  std::printf("\"preset nnunet: image and labels (mean of %d)\",%.2f\n", samples, 1e3 * total / samples);
}
