#include "data/prepare/nnunet_recipe.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/keys.h"
#include "base/shape.h"
#include "base/text.h"
#include "data/volumes/label_resampling.h"
#include "data/volumes/orientation.h"
#include "data/volumes/separable.h"
#include "data/volumes/spline.h"

namespace voxswap::data {

namespace {

// --- Axes

// The symmetry that permutes the axes of a file's grid. Axis i of z, y, x reads axis transpose[i].
Symmetry permutation(const std::array<int, 3>& transpose) {
  Symmetry symmetry;
  for (std::size_t i = 0; i < 3; ++i) symmetry.axes[2 - i] = 2 - transpose[i];
  return symmetry;
}

Geometry permuted(const Geometry& stored, const Symmetry& symmetry) {
  Geometry result = stored;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto source = static_cast<std::size_t>(symmetry.axes[i]);
    result.size[i] = stored.size[source];
    result.spacing[i] = stored.spacing[source];
    for (std::size_t row = 0; row < 3; ++row)
      result.direction[row * 3 + i] = stored.direction[row * 3 + source];
  }
  return result;
}

template <class T>
Grid<T> in_recipe_axes(Grid<T> canonical, const Geometry& stored, const Symmetry& symmetry) {
  Grid<T> grid = as_stored(std::move(canonical), stored);
  if (symmetry.axes == Symmetry{}.axes) return grid;
  return {permuted(stored, symmetry), apply(symmetry, grid.voxels, stored.size, 1)};
}

// --- Foreground

VoxelBox bounding_box(const std::vector<std::uint8_t>& mask, const Size3& size) {
  Size3 low = size, high{-1, -1, -1};
  std::size_t i = 0;
  for (std::int64_t z = 0; z < size[2]; ++z)
    for (std::int64_t y = 0; y < size[1]; ++y)
      for (std::int64_t x = 0; x < size[0]; ++x)
        if (mask[i++] != 0) {
          const Size3 at{x, y, z};
          for (std::size_t axis = 0; axis < 3; ++axis) {
            low[axis] = std::min(low[axis], at[axis]);
            high[axis] = std::max(high[axis], at[axis]);
          }
        }
  if (high[0] < 0) return {{0, 0, 0}, size};  // all voxels are 0
  return {low, {high[0] - low[0] + 1, high[1] - low[1] + 1, high[2] - low[2] + 1}};
}

// --- Normalisation

// Over the voxels for which `counts(i)` is true; population deviation.
template <class Counts>
void standardize(std::vector<float>& values, Counts counts) {
  double sum = 0, squares = 0;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!counts(i)) continue;
    sum += values[i];
    ++count;
  }
  const double mean = count > 0 ? sum / static_cast<double>(count) : 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (counts(i)) squares += (values[i] - mean) * (values[i] - mean);
  const double deviation = count > 0 ? std::sqrt(squares / static_cast<double>(count)) : 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (counts(i)) values[i] = static_cast<float>((values[i] - mean) / std::max(deviation, 1e-8));
}

void rescale(std::vector<float>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const float least = *low, range = std::max(*high - least, 1e-8F);
  for (float& value : values) value = (value - least) / range;
}

void normalize_channel(Image& image, const Scheme& scheme, const std::vector<std::uint8_t>& mask,
                       const std::string& id) {
  std::vector<float>& values = image.voxels;
  switch (scheme.name) {
    case Scheme::Name::zscore:
      return standardize(values, [](std::size_t) { return true; });
    case Scheme::Name::zscore_masked:
      return standardize(values, [&](std::size_t i) { return mask[i] != 0; });
    case Scheme::Name::rescale:
      return rescale(values);
    case Scheme::Name::rgb:
      if (const auto [low, high] = std::minmax_element(values.begin(), values.end()); *low < 0 || *high > 255)
        fail(Exit::bad_data,
             "{}: has intensities from {} to {}, but the scheme rgb needs 0 to 255. Convert the image", id,
             *low, *high);
      for (float& value : values) value /= 255;
      return;
    case Scheme::Name::ct:
      for (float& value : values)
        value = static_cast<float>((std::clamp<double>(value, scheme.low, scheme.high) - scheme.mean) /
                                   std::max(scheme.deviation, 1e-8));
      return;
    case Scheme::Name::none:
      return;
  }
}

// --- Resampling

Band every_voxel(std::int64_t count) {
  Band band{count, 1, {}, std::vector<float>(index(count), 1.0F)};
  for (std::int64_t i = 0; i < count; ++i) band.first.push_back(i);
  return band;
}

// Clamps to the range of the input, as skimage does for every call of resize.
void clamp_to(std::span<const float> input, std::span<float> output) {
  const auto [low, high] = std::minmax_element(input.begin(), input.end());
  const float least = *low, most = *high;
  for (float& value : output) value = std::clamp(value, least, most);
}

// The voxels at position i along an axis, as a copy.
std::vector<float> slice_of(const std::vector<float>& voxels, const Size3& size, std::size_t axis,
                            std::int64_t i) {
  VoxelBox box{{0, 0, 0}, size};
  box.start[axis] = i;
  box.size[axis] = 1;
  return crop(Image{{size}, voxels}, box).voxels;
}

// The slices at these positions along an axis.
template <class T>
std::vector<T> slices_at(const std::vector<T>& voxels, const Size3& size, std::size_t axis,
                         const std::vector<std::int64_t>& positions) {
  const std::int64_t inner = axis == 0 ? 1 : axis == 1 ? size[0] : size[0] * size[1];
  std::vector<T> result;
  for (auto block = voxels.begin(); block != voxels.end(); block += size[axis] * inner)
    for (const std::int64_t i : positions)
      result.insert(result.end(), block + i * inner, block + (i + 1) * inner);
  return result;
}

// Slices resampled in their plane, each clamped to its own range, then the nearest slices.
std::vector<float> resampled_slices(const std::vector<float>& voxels, const Size3& from, const Size3& to,
                                    std::size_t axis) {
  std::array<Band, 3> bands;
  for (std::size_t i = 0; i < 3; ++i)
    bands[i] =
        i == axis || from[i] == to[i] ? every_voxel(from[i]) : cubic_band(from[i], to[i], Edge::repeated);
  Size3 between = to;
  between[axis] = from[axis];
  std::vector<float> planes = filtered(voxels, from, bands[0], bands[1], bands[2]);
  const std::int64_t inner = axis == 0   ? 1
                             : axis == 1 ? between[0]
                                         : between[0] * between[1],
                     outer = between[0] * between[1] * between[2] / (inner * from[axis]);
  for (std::int64_t i = 0; i < from[axis]; ++i) {
    const std::vector<float> input = slice_of(voxels, from, axis, i);
    const auto [low, high] = std::minmax_element(input.begin(), input.end());
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t v = 0; v < inner; ++v) {
        float& value = planes[index((o * from[axis] + i) * inner + v)];
        value = std::clamp(value, *low, *high);
      }
  }
  if (to[axis] == from[axis]) return planes;
  return slices_at(planes, between, axis, nearest_positions(from[axis], to[axis]));
}

Image resampled(const Image& image, const Size3& to, std::optional<std::size_t> separate) {
  const Size3& from = image.geometry.size;
  if (from == to) return image;
  const Geometry geometry = resample_geometry(image.geometry, to);
  if (separate) return {geometry, resampled_slices(image.voxels, from, to, *separate)};
  std::array<Band, 3> bands;
  for (std::size_t i = 0; i < 3; ++i)
    bands[i] = from[i] == to[i] ? every_voxel(from[i]) : cubic_band(from[i], to[i], Edge::repeated);
  Image result{geometry, filtered(image.voxels, from, bands[0], bands[1], bands[2])};
  clamp_to(image.voxels, result.voxels);
  return result;
}

// Rounds halves to even, like Python.
Size3 size_of(const Size3& from, const Spacing& spacing, const Spacing& target) {
  Size3 size;
  for (std::size_t axis = 0; axis < 3; ++axis)
    size[axis] = std::max<std::int64_t>(
        1, std::llrint(spacing[axis] / target[axis] * static_cast<double>(from[axis])));
  return size;
}

// In a cascade, the foreground also has the voxels that the first network labelled. Background outside of it
// becomes a label of its own, which competes with the others when they are resampled.
void join(std::vector<std::uint8_t>& foreground, LabelMap& previous) {
  constexpr std::int16_t outside = -1;
  for (std::size_t i = 0; i < foreground.size(); ++i) {
    if (previous.voxels[i] > 0) foreground[i] = 1;
    if (foreground[i] == 0) previous.voxels[i] = outside;
  }
}

// A channel per label.
void add_labels(std::vector<Image>& images, LabelMap map, std::optional<std::size_t> separate,
                const std::vector<int>& labels) {
  const Geometry geometry = images.front().geometry;
  const Size3 from = map.geometry.size;
  Size3 planes = geometry.size;
  if (separate) planes[*separate] = from[*separate];
  map = resample_shares(map, planes, separate, Ties::as_in_nnunet);
  if (planes != geometry.size)
    map.voxels = slices_at(map.voxels, planes, *separate,
                           nearest_positions(from[*separate], geometry.size[*separate]));
  for (const int label : labels) {
    Image channel{geometry, {}};
    for (const std::int16_t voxel : map.voxels) channel.voxels.push_back(voxel == label ? 1.0F : 0.0F);
    images.push_back(std::move(channel));
  }
}

std::optional<std::size_t> coarsest_axis(const Spacing& spacing, bool& anisotropic_grid) {
  const auto [least, most] = std::minmax_element(spacing.begin(), spacing.end());
  anisotropic_grid = *most / *least > anisotropic;
  if (!anisotropic_grid || std::count(spacing.begin(), spacing.end(), *most) > 1) return std::nullopt;
  return static_cast<std::size_t>(most - spacing.begin());
}

}  // namespace

std::optional<std::size_t> separate_axis(const Spacing& from, const Spacing& to) {
  bool anisotropic_grid = false;
  const std::optional<std::size_t> axis = coarsest_axis(from, anisotropic_grid);
  return anisotropic_grid ? axis : coarsest_axis(to, anisotropic_grid);
}

std::vector<std::int64_t> nearest_positions(std::int64_t from, std::int64_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < to; ++i) {
    const double source = scale * (static_cast<double>(i) + 0.5) - 0.5;
    positions.push_back(std::clamp<std::int64_t>(std::llround(std::floor(source + 0.5)), 0, from - 1));
  }
  return positions;
}

std::vector<std::uint8_t> filled_foreground(const std::vector<Image>& channels) {
  const Size3& size = channels.front().geometry.size;
  std::vector<std::uint8_t> mask(channels.front().voxels.size());
  for (const Image& channel : channels)
    for (std::size_t i = 0; i < mask.size(); ++i) mask[i] |= channel.voxels[i] != 0 ? 1 : 0;
  constexpr std::uint8_t outside = 2;
  std::vector<std::size_t> next;
  const auto visit = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    const std::size_t i = index((z * size[1] + y) * size[0] + x);
    if (mask[i] != 0) return;
    mask[i] = outside;
    next.push_back(i);
  };
  for (std::int64_t z = 0; z < size[2]; ++z)
    for (std::int64_t y = 0; y < size[1]; ++y) {
      const bool on_face = z == 0 || z == size[2] - 1 || y == 0 || y == size[1] - 1;
      for (std::int64_t x = 0; x < size[0]; x += on_face ? 1 : std::max<std::int64_t>(size[0] - 1, 1))
        visit(x, y, z);
    }
  while (!next.empty()) {
    const auto i = static_cast<std::int64_t>(next.back());
    next.pop_back();
    const std::int64_t x = i % size[0], y = i / size[0] % size[1], z = i / (size[0] * size[1]);
    if (x > 0) visit(x - 1, y, z);
    if (x + 1 < size[0]) visit(x + 1, y, z);
    if (y > 0) visit(x, y - 1, z);
    if (y + 1 < size[1]) visit(x, y + 1, z);
    if (z > 0) visit(x, y, z - 1);
    if (z + 1 < size[2]) visit(x, y, z + 1);
  }
  for (std::uint8_t& value : mask) value = value == outside ? 0 : 1;
  return mask;
}

Size3 most_voxels_as_nnunet(const Geometry& stored, const PrepareOptions& options) {
  const Geometry grid = permuted(stored, permutation(options.transpose));
  return size_of(grid.size, grid.spacing, spacing_for(options.spacing, grid.spacing));
}

PreparedCase prepare_as_nnunet(const Volume& volume, const PrepareOptions& options) {
  if (options.schemes.size() != volume.channels.size())
    fail(Exit::usage, "{}: {} given, but there are {}. Give one for each channel", key::preprocess_schemes,
         counted(std::ssize(options.schemes), "scheme"), counted(std::ssize(volume.channels), "channel"));
  const Geometry stored = volume.stored();
  const Symmetry symmetry = permutation(options.transpose);
  std::vector<Image> images;
  for (const Image& channel : volume.channels) images.push_back(in_recipe_axes(channel, stored, symmetry));
  const std::vector<std::uint8_t> whole_mask = filled_foreground(images);
  PreparedCase result;
  result.original = images.front().geometry;
  result.box = bounding_box(whole_mask, result.original.size);
  LabelMap mask_map{result.original, {whole_mask.begin(), whole_mask.end()}};
  const LabelMap cropped_mask = crop(mask_map, result.box);
  std::vector<std::uint8_t> mask(cropped_mask.voxels.begin(), cropped_mask.voxels.end());
  const bool is_cascade = !volume.previous.labels.empty();
  LabelMap previous;
  if (is_cascade) {
    previous = crop(in_recipe_axes(volume.previous.map, stored, symmetry), result.box);
    join(mask, previous);
  }
  const Spacing& spacing = result.original.spacing;
  const Spacing target = spacing_for(options.spacing, spacing);
  const std::optional<std::size_t> separate = separate_axis(spacing, target);
  result.id = volume.id;
  result.size = size_of(result.box.size, spacing, target);
  result.stored = stored;
  for (std::size_t c = 0; c < images.size(); ++c) {
    Image part = crop(images[c], result.box);
    normalize_channel(part, options.schemes[c], mask, volume.id);
    images[c] = resampled(part, result.size, separate);
  }
  if (is_cascade) add_labels(images, std::move(previous), separate, volume.previous.labels);
  const std::size_t channels = images.size();
  result.channels = static_cast<std::int64_t>(channels);
  result.image = interleaved(images);
  if (volume.has_truth())
    result.truth = resample_shares(crop(in_recipe_axes(volume.truth, stored, symmetry), result.box),
                                   result.size, separate)
                       .voxels;
  result.statistics = {
      std::vector<double>(channels, 0.0), std::vector<double>(channels, 1.0), {}, volume.missing};
  if (!volume.missing.empty()) result.statistics.missing.resize(channels, false);
  result.background.assign(channels, 0.0F);  // padding is 0 after normalisation
  return result;
}

}  // namespace voxswap::data
