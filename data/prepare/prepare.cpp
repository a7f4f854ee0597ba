#include "data/prepare/prepare.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/keys.h"
#include "base/text.h"
#include "data/prepare/bias_correction.h"
#include "data/prepare/nnunet_recipe.h"
#include "data/volumes/label_resampling.h"
#include "data/volumes/spline.h"

namespace voxswap::data {

namespace {

// Mean and population deviation of the values for which `counts` is true, every `stride`-th from `first`; two
// passes in double precision.
template <class Counts>
void statistics(const std::vector<float>& values, std::size_t first, std::size_t stride, Counts counts,
                double& mean, double& deviation) {
  double sum = 0, squares = 0;
  std::int64_t count = 0;
  for (std::size_t i = first; i < values.size(); i += stride) {
    if (!counts(values[i])) continue;
    sum += values[i];
    ++count;
  }
  mean = count > 0 ? sum / static_cast<double>(count) : 0;
  for (std::size_t i = first; i < values.size(); i += stride) {
    if (counts(values[i])) squares += (values[i] - mean) * (values[i] - mean);
  }
  deviation = count > 0 ? std::sqrt(squares / static_cast<double>(count)) : 0;
}

// The percentile with linear interpolation, NumPy's default; reorders the values.
template <class Value>
Value percentile(std::vector<Value>& values, double percent) {
  const double place = percent / 100 * static_cast<double>(values.size() - 1);
  const auto below = values.begin() + static_cast<std::ptrdiff_t>(place);
  std::nth_element(values.begin(), below, values.end());
  const double low = *below, part = place - std::floor(place);
  if (part == 0) return *below;
  return static_cast<Value>(low + part * (*std::min_element(below + 1, values.end()) - low));
}

// Clips the foreground to two of its percentiles; the background does not change.
void clip(Image& image, float background, double low, double high) {
  if (low <= 0 && high >= 100) return;
  std::vector<float> foreground;
  for (const float value : image.voxels)
    if (value != background) foreground.push_back(value);
  if (foreground.empty()) return;
  const float least = percentile(foreground, low), most = percentile(foreground, high);
  for (float& value : image.voxels)
    if (value != background) value = std::clamp(value, least, most);
}

void check_options(const PrepareOptions& options) {
  for (const std::int64_t side : options.resolution) {
    if (side < 1)
      fail(Exit::usage, "{}: {} along an axis is impossible. Use at least 1", key::preprocess_resolution,
           counted(side, "voxel"));
  }
}

// Splines overshoot at the border of the foreground; background voxels must stay background.
void keep_background(const Image& part, float background, Image& resized) {
  const Size3 &from = part.geometry.size, &to = resized.geometry.size;
  const auto nearest = [&](std::int64_t i, std::size_t axis) {
    return (2 * i + 1) * from[axis] / (2 * to[axis]);
  };
  std::vector<std::int64_t> columns;
  for (std::int64_t x = 0; x < to[0]; ++x) columns.push_back(nearest(x, 0));
  float* value = resized.voxels.data();
  for (std::int64_t z = 0; z < to[2]; ++z)
    for (std::int64_t y = 0; y < to[1]; ++y) {
      const float* row = &part.at(0, nearest(y, 1), nearest(z, 2));
      for (const std::int64_t x : columns) {
        *value = row[x] == background ? background : *value;
        ++value;
      }
    }
}

// At most 10,000 labelled voxels, spread evenly over all in the box.
std::vector<std::size_t> labelled_places(const LabelMap& truth) {
  constexpr std::int64_t most = 10000;
  const auto count = static_cast<std::int64_t>(truth.voxels.size()) -
                     std::count(truth.voxels.begin(), truth.voxels.end(), std::int16_t{0});
  const std::int64_t taken = std::min(count, most);
  std::vector<std::size_t> places;
  std::int64_t seen = 0, next = 0;
  for (std::size_t i = 0; i < truth.voxels.size(); ++i) {
    if (truth.voxels[i] == 0 || seen++ != next) continue;
    places.push_back(i);
    const auto at = static_cast<std::int64_t>(places.size());
    if (at == taken) break;
    next = at * count / taken;
  }
  return places;
}

// Where a case is cropped, and the grid that the crop is resized to.
struct Placement {
  std::vector<float> background;            // per channel
  VoxelBox box;                             // the crop, in voxels of the case's own grid
  Size3 size;                               // of the training grid
  std::optional<std::size_t> slices_along;  // an anisotropic axis, which is not interpolated
};

Placement placement_of(const Volume& volume, const PrepareOptions& options) {
  Placement place;
  for (std::size_t c = 0; c < volume.channels.size(); ++c) {
    const bool by_corner = options.corner_background || volume.lacks(c);  // 0 for a missing channel
    place.background.push_back(by_corner ? corner_value(volume.channels[c])
                                         : static_cast<float>(options.background));
  }
  place.box = options.crop == Crop::foreground ? foreground_box(volume.channels, place.background)
                                               : VoxelBox{{0, 0, 0}, volume.geometry().size};
  const Geometry part = crop_geometry(volume.geometry(), place.box);
  place.size = options.by_spacing() ? size_at(part, options.spacing) : options.resolution;
  if (options.slices == Slices::axial) place.size[2] = place.box.size[2];
  place.slices_along = coarse_axis(part.spacing);
  return place;
}

// Bias correction uses the whole image, clipping only the crop.
Image cropped_channel(const Volume& volume, std::size_t channel, const Placement& place,
                      const PrepareOptions& options) {
  const Image& whole = volume.channels[channel];
  const float background = place.background[channel];
  const bool corrected = !options.bias_correction.empty() && options.bias_channels[channel];
  Image part =
      corrected
          ? crop(correct_bias(whole, background, format("{}, channel {}", volume.id, channel + 1)), place.box)
          : crop(whole, place.box);
  clip(part, background, options.clip_low, options.clip_high);
  return part;
}

Image resized_channel(const Image& part, float background, const Placement& place,
                      const PrepareOptions& options) {
  if (!options.by_spacing()) return resample_linear(part, place.size);
  Image resized = resample_cubic(part, place.size, place.slices_along);
  keep_background(part, background, resized);
  return resized;
}

LabelMap resized_truth(const LabelMap& truth, const Placement& place, const PrepareOptions& options) {
  return options.by_spacing() ? resample_shares(truth, place.size, place.slices_along)
                              : resample_nearest(truth, place.size);
}

}  // namespace

PrepareOptions for_modalities(PrepareOptions options, const std::vector<std::string>& modalities) {
  options.bias_channels = corrected_channels(options.bias_correction, modalities);
  return options;
}

PreparedCase prepare(const Volume& volume, const PrepareOptions& options) {
  check_options(options);
  if (options.recipe == Recipe::nnunet) return prepare_as_nnunet(volume, options);
  const std::size_t channels = volume.channels.size();
  assert(options.bias_correction.empty() || options.bias_channels.size() == channels);

  const Placement place = placement_of(volume, options);
  if (!has_foreground(volume.channels, place.background))
    fail(Exit::bad_data, "case {}: all channels contain only background. Replace the case, or correct {}",
         volume.id, key::preprocess_background);
  const LabelMap truth = volume.has_truth() ? crop(volume.truth, place.box) : LabelMap();
  const std::vector<std::size_t> labelled = labelled_places(truth);
  CaseStatistics found{std::vector<double>(channels), std::vector<double>(channels),
                       std::vector<float>(labelled.size() * channels), volume.missing};
  std::vector<Image> images;
  for (std::size_t c = 0; c < channels; ++c) {
    const float background = place.background[c];
    const Image part = cropped_channel(volume, c, place, options);
    Image resized = resized_channel(part, background, place, options);
    statistics(
        options.by_spacing() ? part.voxels : resized.voxels, 0, 1,
        [=](float value) { return value != background; }, found.mean[c], found.deviation[c]);
    for (std::size_t i = 0; i < labelled.size(); ++i)
      found.labelled[i * channels + c] = part.voxels[labelled[i]];
    images.push_back(std::move(resized));
  }

  PreparedCase result;
  result.id = volume.id;
  result.size = place.size;
  result.channels = static_cast<std::int64_t>(channels);
  result.image = interleaved(images);
  if (volume.has_truth()) result.truth = resized_truth(truth, place, options).voxels;
  result.statistics = std::move(found);
  result.background = place.background;
  result.box = place.box;
  result.original = volume.geometry();
  result.stored = volume.stored();
  return result;
}

namespace {

constexpr double least_percent = 0.5, most_percent = 99.5;

Normalization ct_normalization(const std::vector<CaseStatistics>& cases) {
  Normalization result;
  const std::size_t channels = cases.front().mean.size();
  for (std::size_t c = 0; c < channels; ++c) {
    std::vector<float> values;
    for (const CaseStatistics& one : cases)
      for (std::size_t i = c; i < one.labelled.size() && !one.lacks(c); i += channels)
        values.push_back(one.labelled[i]);
    if (values.empty())
      fail(Exit::bad_data, "{}: ct needs labelled voxels, but the ground truth of the {} has none",
           key::preprocess_normalize, counted(cases.size(), "training case"));
    result.mean.emplace_back();
    result.deviation.emplace_back();
    statistics(
        values, 0, 1, [](float) { return true; }, result.mean.back(), result.deviation.back());
    result.low.push_back(percentile(values, least_percent));
    result.high.push_back(percentile(values, most_percent));
  }
  return result;
}

}  // namespace

Normalization dataset_normalization(const std::vector<CaseStatistics>& cases, Normalize how) {
  Normalization normalization;
  if (cases.empty()) return normalization;
  if (how == Normalize::ct) return ct_normalization(cases);
  const std::size_t channels = cases.front().mean.size();
  normalization.mean.assign(channels, 0);
  normalization.deviation.assign(channels, 0);
  for (std::size_t c = 0; c < channels; ++c) {
    const auto has = [&](const CaseStatistics& one) { return !one.lacks(c); };
    const auto count = static_cast<double>(std::count_if(cases.begin(), cases.end(), has));
    for (const CaseStatistics& one : cases) {
      assert(one.mean.size() == channels && one.deviation.size() == channels);
      if (!has(one)) continue;
      normalization.mean[c] += one.mean[c] / count;
      normalization.deviation[c] += one.deviation[c] / count;
    }
  }
  return normalization;
}

CaseStatistics statistics_for(Normalize how, const PreparedCase& prepared) {
  const CaseStatistics& all = prepared.statistics;
  return {all.mean, all.deviation, how == Normalize::ct ? all.labelled : std::vector<float>(), all.missing};
}

Normalization normalization_for(const PreparedCase& prepared, const PrepareOptions& options,
                                const Normalization& dataset) {
  if (needs_training_set(options.normalize)) return dataset;
  const CaseStatistics& own = prepared.statistics;
  if (options.normalize == Normalize::image) return {own.mean, own.deviation};
  if (options.normalize == Normalize::masked) return {own.mean, own.deviation, true};
  const auto channels = static_cast<std::size_t>(prepared.channels);
  Normalization result{std::vector<double>(channels, 0.0), std::vector<double>(channels, 1.0)};
  for (std::size_t c = 0; c < channels && options.normalize == Normalize::whole; ++c)
    statistics(
        prepared.image, c, channels, [](float) { return true; }, result.mean[c], result.deviation[c]);
  return result;
}

NormalizedCase normalize(PreparedCase prepared, const Normalization& normalization) {
  const auto channels = static_cast<std::size_t>(prepared.channels);
  assert(normalization.mean.size() == channels && normalization.deviation.size() == channels);
  std::vector<double> scale(channels);
  std::vector<char> absent(channels);
  for (std::size_t c = 0; c < channels; ++c) absent[c] = prepared.lacks(c) ? 1 : 0;
  // A constant channel is only centred.
  for (std::size_t c = 0; c < channels; ++c)
    scale[c] = normalization.deviation[c] > 0 ? 1 / normalization.deviation[c] : 1;
  const auto normalize_voxel = [&](float* voxel) {
    for (std::size_t c = 0; c < channels; ++c) {
      float& value = voxel[c];
      if (absent[c]) continue;
      const bool outside = normalization.masked && value == prepared.background[c];
      if (!normalization.low.empty())
        value = std::clamp(value, static_cast<float>(normalization.low[c]),
                           static_cast<float>(normalization.high[c]));
      value = outside ? 0 : static_cast<float>((value - normalization.mean[c]) * scale[c]);
    }
  };
  for (std::size_t i = 0; i < prepared.image.size(); i += channels) normalize_voxel(&prepared.image[i]);
  std::vector<float> background = prepared.background;
  if (!background.empty()) normalize_voxel(background.data());  // none: never padded
  return {prepared.size,
          prepared.training_geometry().spacing,
          prepared.channels,
          std::move(prepared.image),
          std::move(prepared.truth),
          std::move(background)};
}

std::vector<std::uint8_t> target_classes(const std::vector<std::int16_t>& truth,
                                         const std::vector<std::vector<int>>& classes) {
  const bool wide = classes.size() > 255;
  std::vector<std::uint16_t> class_of(1U << 16, wide ? 65535 : 255);  // indexed by unsigned label
  for (std::size_t c = classes.size(); c-- > 0;)
    for (const int value : classes[c])
      class_of[static_cast<std::uint16_t>(value)] = static_cast<std::uint16_t>(c);
  std::vector<std::uint8_t> targets;
  targets.reserve(truth.size() * (wide ? 2 : 1));
  for (const std::int16_t value : truth) {
    const std::uint16_t target = class_of[static_cast<std::uint16_t>(value)];
    targets.push_back(static_cast<std::uint8_t>(target & 255U));
    if (wide) targets.push_back(static_cast<std::uint8_t>(target >> 8U));
  }
  return targets;
}

std::vector<std::uint8_t> target_bits(const std::vector<std::int16_t>& truth,
                                      const std::vector<std::vector<int>>& classes) {
  const std::size_t bytes = (classes.size() + 7) / 8;
  std::vector<std::uint8_t> bits_of(bytes << 16U);  // indexed by label as an unsigned 16-bit number
  for (std::size_t c = 0; c < classes.size(); ++c) {
    for (const int value : classes[c])
      bits_of[bytes * static_cast<std::uint16_t>(value) + c / 8] |= static_cast<std::uint8_t>(1U << c % 8);
  }
  std::vector<std::uint8_t> bits(bytes * truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i)
    std::copy_n(bits_of.data() + bytes * static_cast<std::uint16_t>(truth[i]), bytes,
                bits.data() + bytes * i);
  return bits;
}

Spacing target_spacing(std::span<const Geometry> grids) {
  assert(!grids.empty());
  const auto rounded = [](Spacing spacing) {  // headers contain values such as 3.2291666666666736
    for (double& side : spacing) side = std::max(1e-4, std::round(1e4 * side) / 1e4);
    return spacing;
  };
  Spacing target, sides;
  std::array<std::vector<double>, 3> spacings;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::vector<double> lengths;
    for (const Geometry& grid : grids) {
      spacings[axis].push_back(grid.spacing[axis]);
      lengths.push_back(static_cast<double>(grid.size[axis]));
    }
    target[axis] = percentile(spacings[axis], 50);
    sides[axis] = percentile(lengths, 50);
  }
  const auto coarse = coarse_axis(target);
  if (!coarse) return rounded(target);
  double longest = 0, fewest = std::numeric_limits<double>::infinity();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (axis == *coarse) continue;
    longest = std::max(longest, target[axis]);
    fewest = std::min(fewest, sides[axis]);
  }
  if (anisotropic * sides[*coarse] < fewest)
    target[*coarse] = std::max(longest, percentile(spacings[*coarse], 10));
  return rounded(target);
}

}  // namespace voxswap::data
