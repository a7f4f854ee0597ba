#include "data/prepare/bias_correction.h"

#include <itkN4BiasFieldCorrectionImageFilter.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/keys.h"
#include "base/text.h"
#include "data/volumes/transforms.h"

namespace voxswap::data {

namespace {

using FieldImage = itk::Image<float, 3>;
using MaskImage = itk::Image<unsigned char, 3>;
using N4 = itk::N4BiasFieldCorrectionImageFilter<FieldImage, MaskImage, FieldImage>;

bool is_t1_or_t2(const std::string& modality) {
  const std::string name = lower(modality);
  const bool flair = name.find("flair") != name.npos || name.starts_with("t2f");
  return (name.starts_with("t1") || name.starts_with("t2")) && !flair;
}

// The field is smooth, so this many voxels suffice. Voxels are kept as isotropic as integer factors allow.
constexpr std::int64_t most_voxels = 50000;

Size3 coarse_size(const Geometry& geometry) {
  std::array<std::int64_t, 3> factor{1, 1, 1};
  Size3 size = geometry.size;
  while (size[0] * size[1] * size[2] > most_voxels) {
    std::size_t finest = 0;
    const auto spacing = [&](std::size_t axis) {
      return geometry.spacing[axis] * static_cast<double>(factor[axis]);
    };
    for (std::size_t axis = 1; axis < 3; ++axis)
      if (spacing(axis) < spacing(finest)) finest = axis;
    ++factor[finest];
    size[finest] = (geometry.size[finest] + factor[finest] - 1) / factor[finest];
  }
  return size;
}

// Block means of the foreground; a block is in the mask if at least half of it is foreground.
struct Coarse {
  Image image;
  std::vector<unsigned char> mask;
};

Coarse shrink(const Image& image, float background) {
  const Size3 &from = image.geometry.size, to = coarse_size(image.geometry);
  Coarse coarse;
  coarse.image.geometry = resample_geometry(image.geometry, to);
  coarse.image.voxels.reserve(static_cast<std::size_t>(to[0] * to[1] * to[2]));
  for (std::int64_t z = 0; z < to[2]; ++z) {
    for (std::int64_t y = 0; y < to[1]; ++y) {
      for (std::int64_t x = 0; x < to[0]; ++x) {
        double sum = 0;
        std::int64_t inside = 0, all = 0;
        for (std::int64_t k = z * from[2] / to[2]; k < (z + 1) * from[2] / to[2]; ++k)
          for (std::int64_t j = y * from[1] / to[1]; j < (y + 1) * from[1] / to[1]; ++j)
            for (std::int64_t i = x * from[0] / to[0]; i < (x + 1) * from[0] / to[0]; ++i, ++all) {
              const float value = image.at(i, j, k);
              if (value == background) continue;
              sum += value;
              ++inside;
            }
        const bool foreground = inside > 0 && 2 * inside >= all && sum > 0;
        coarse.mask.push_back(foreground ? 1 : 0);
        coarse.image.voxels.push_back(foreground ? static_cast<float>(sum / static_cast<double>(inside)) : 0);
      }
    }
  }
  return coarse;
}

template <class ItkImage, class Value>
typename ItkImage::Pointer to_itk(const Geometry& geometry, const std::vector<Value>& voxels) {
  const auto image = ItkImage::New();
  typename ItkImage::SizeType size;
  typename ItkImage::SpacingType spacing;
  for (unsigned axis = 0; axis < 3; ++axis) {
    size[axis] = static_cast<itk::SizeValueType>(geometry.size[axis]);
    spacing[axis] = geometry.spacing[axis];
  }
  image->SetRegions(size);
  image->SetSpacing(spacing);  // origin and direction do not matter
  image->Allocate();
  std::copy(voxels.begin(), voxels.end(), image->GetBufferPointer());
  return image;
}

// The logarithm of the field on the coarse grid. ITK's filters inside N4 use the process-wide number of
// threads and add up partial results per thread, so rounding would depend on it. Use one: cases are processed
// in parallel instead.
Image log_field(const Coarse& coarse) {
  itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(1);
  static const auto first = N4::New();  // creates the global objects of ITK's filters, which takes no lock
  const auto n4 = N4::New();
  n4->SetInput(to_itk<FieldImage>(coarse.image.geometry, coarse.image.voxels));
  n4->SetMaskImage(to_itk<MaskImage>(coarse.image.geometry, coarse.mask));
  n4->SetMaskLabel(1);
  n4->SetNumberOfFittingLevels(4);
  N4::VariableSizeArrayType iterations(4);
  iterations.Fill(50);
  n4->SetMaximumNumberOfIterations(iterations);
  n4->SetConvergenceThreshold(0.001);
  n4->Update();
  const auto field = n4->ReconstructBiasField(n4->GetLogBiasFieldControlPointLattice());
  Image result{coarse.image.geometry, {}};
  result.voxels.assign(field->GetBufferPointer(), field->GetBufferPointer() + coarse.image.voxels.size());
  return result;
}

void check_values(const Image& image, float background, const std::string& what) {
  std::int64_t foreground = 0, impossible = 0;
  for (const float value : image.voxels) {
    if (value == background) continue;
    ++foreground;
    if (!(value > 0)) ++impossible;
  }
  if (foreground == 0) fail(Exit::bad_data, "{}: no foreground, so the bias field cannot be corrected", what);
  if (impossible * 100 > foreground)
    fail(Exit::bad_data,
         "{}: bias correction needs positive intensities, but {:.0f} % of the foreground is 0 or below. Set "
         "{}: none for images that are normalised already, or set {}",
         what, 100.0 * static_cast<double>(impossible) / static_cast<double>(foreground),
         key::preprocess_bias_correction, key::preprocess_background);
}

}  // namespace

std::vector<bool> corrected_channels(const std::vector<std::string>& wanted,
                                     const std::vector<std::string>& modalities) {
  std::vector<bool> corrected(modalities.size(), false);
  const bool by_name = wanted == std::vector<std::string>{"n4"};
  for (std::size_t i = 0; i < modalities.size() && by_name; ++i) corrected[i] = is_t1_or_t2(modalities[i]);
  if (by_name && std::find(corrected.begin(), corrected.end(), true) == corrected.end())
    fail(Exit::usage,
         "{}: n4 corrects channels named as T1- or T2-weighted, and none of {} is. Name the channels to "
         "correct: [{}]",
         key::preprocess_bias_correction, join(modalities, ", "), join(modalities, ", "));
  for (std::size_t i = 0; i < wanted.size() && !by_name; ++i) {
    const auto found = std::find(modalities.begin(), modalities.end(), wanted[i]);
    if (found == modalities.end())
      fail(Exit::usage, "{}: '{}' is not a channel. There are {}", key::preprocess_bias_correction, wanted[i],
           join(modalities, ", "));
    corrected[static_cast<std::size_t>(found - modalities.begin())] = true;
  }
  return corrected;
}

Image correct_bias(const Image& image, float background, const std::string& what) {
  check_values(image, background, what);
  Image result = image;
  try {
    const Image field = resample_linear(log_field(shrink(image, background)), image.geometry.size);
    for (std::size_t i = 0; i < result.voxels.size(); ++i)
      if (image.voxels[i] != background) result.voxels[i] = image.voxels[i] / std::exp(field.voxels[i]);
  } catch (const itk::ExceptionObject& problem) {
    fail(Exit::bad_data, "{}: bias correction failed: {}", what, problem.GetDescription());
  }
  return result;
}

}  // namespace voxswap::data
