#include "data/augment/augment.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <set>

#include "base/philox.h"
#include "base/text.h"
#include "data/volumes/transforms.h"

namespace voxswap::data {

namespace {

// Independent streams of one key. The values are part of what a seed means: never change them.
enum Purpose : std::uint32_t {
  of_rotation = 0xa100,
  of_scale,
  of_zoom,
  of_elastic,
  of_noise,
  of_blur,
  of_intensity,
  of_brightness,
  of_contrast,
  of_low_resolution,
  of_inverted_gamma,
  of_gamma,
  of_channel_dropout,
  first_of_voxels = 0xb000,         // one stream per channel of noise
  first_of_control_points = 0xc000  // one stream per axis of the elastic deformation
};

Philox stream(const AugmentKey& key, std::uint32_t purpose) {
  return {key.seed, key.epoch << 32 | key.case_index, purpose};
}

// Draw `number` of a stream uses three uniform numbers: whether, how much, and which side of 1.
constexpr std::uint64_t words_per_draw = 4;

bool happens(const Draw& draw, const Philox& random, std::uint64_t number) {
  return random.uniform(words_per_draw * number) < draw.probability;
}

double between(double low, double high, double part) {
  return low + (high - low) * part;
}

double amount(const Draw& draw, const Philox& random, std::uint64_t number, double otherwise) {
  if (!happens(draw, random, number)) return otherwise;
  return between(draw.low, draw.high, random.uniform(words_per_draw * number + 1));
}

// For factors: below and above 1 with equal probability, as nnU-Net draws contrast and gamma, even if the
// range is not symmetric about 1.
double balanced_amount(const Draw& draw, const Philox& random, std::uint64_t number) {
  if (!happens(draw, random, number)) return 1;
  const double part = random.uniform(words_per_draw * number + 1);
  const bool below = random.uniform(words_per_draw * number + 2) < 0.5F;
  if (draw.low < 1 && (below || draw.high <= 1)) return between(draw.low, std::min(draw.high, 1.0), part);
  return between(std::max(draw.low, 1.0), draw.high, part);
}

int draw_symmetry(const AugmentOptions& options, const AugmentKey& key, const Size3& size) {
  const Philox random(key.seed, key.epoch, 0xa06);
  const std::uint64_t at = 4 * std::uint64_t{key.case_index};
  if (options.symmetries) {
    const std::vector<int> allowed = allowed_symmetries(size);
    return allowed[random.word(at) % allowed.size()];
  }
  int flips = 0;
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (random.uniform(at + axis) < options.flip[axis]) flips |= 1 << axis;
  return flips;  // the first eight symmetries are the flips, one bit per axis
}

// An image (one slice) is rotated only within its plane.
void draw_space(const AugmentOptions& options, bool is_image, Augmentation& drawn) {
  const AugmentKey& key = drawn.key;
  const Philox turns = stream(key, of_rotation), scales = stream(key, of_scale);
  const bool turned = happens(options.rotation, turns, 0);
  const double zoom = amount(options.zoom, stream(key, of_zoom), 0, 1);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (turned && (axis == 2 || !is_image))
      drawn.space.degrees[axis] =
          between(options.rotation.low, options.rotation.high, turns.uniform(words_per_draw * (axis + 1)));
    const double scale = std::clamp(1 + options.scale * scales.normal(axis), 0.5, 2.0);
    drawn.space.factors[axis] = zoom * scale;
  }
  drawn.space.elastic = amount(options.elastic, stream(key, of_elastic), 0, 0);
  drawn.space.elastic_grid = options.elastic_grid;
}

IntensityChange draw_channel(const AugmentOptions& options, const AugmentKey& key, std::uint64_t channel) {
  const auto of = [&](const Draw& draw, std::uint32_t purpose, double otherwise) {
    return amount(draw, stream(key, purpose), channel, otherwise);
  };
  IntensityChange drawn;
  drawn.noise = of(options.noise, of_noise, 0);
  drawn.blur = of(options.blur, of_blur, 0);
  drawn.brightness = of(options.brightness, of_brightness, 1);
  const Philox intensity = stream(key, of_intensity);
  drawn.brightness *= 1 + options.intensity * intensity.normal(2 * channel);
  drawn.shift = options.intensity * intensity.normal(2 * channel + 1);
  drawn.contrast = balanced_amount(options.contrast, stream(key, of_contrast), channel);
  drawn.low_resolution = of(options.low_resolution, of_low_resolution, 1);
  drawn.inverted_gamma = balanced_amount(options.inverted_gamma, stream(key, of_inverted_gamma), channel);
  drawn.gamma = balanced_amount(options.gamma, stream(key, of_gamma), channel);
  return drawn;
}

// If all channels would be dropped, one random channel stays.
std::vector<bool> draw_dropped(const AugmentOptions& options, const AugmentKey& key, std::int64_t channels) {
  const Philox random = stream(key, of_channel_dropout);
  std::vector<bool> dropped;
  for (std::int64_t c = 0; c < channels; ++c)
    dropped.push_back(random.uniform(static_cast<std::uint64_t>(c) + 1) < options.channel_dropout);
  const auto count = static_cast<std::size_t>(channels);
  if (std::find(dropped.begin(), dropped.end(), false) == dropped.end() && count > 0)
    dropped[std::min(count - 1, static_cast<std::size_t>(random.uniform(0) * static_cast<float>(count)))] =
        false;
  return dropped;
}

std::string describe(const Symmetry& turn) {
  std::string axes, flips;
  for (std::size_t i = 0; i < 3; ++i) {
    axes += "xyz"[turn.axes[i]];
    if (turn.flips[i]) flips += format(" {}", "xyz"[i]);
  }
  const std::string order = axes == "xyz" ? "" : "axes " + axes;
  if (flips.empty()) return order;
  return (order.empty() ? "" : order + ", ") + "flipped" + flips;
}

// "hip_l" -> "hip_r": the name with the other ending of its word at `index`; empty if that names no left
// side.
std::string right_of(std::vector<std::string> words, std::size_t index) {
  for (const auto& [left, right] :
       {std::pair<std::string, const char*>{"left", "right"}, {"lh", "rh"}, {"l", "r"}}) {
    std::string& word = words[index];
    if (!word.ends_with(left)) continue;
    word.replace(word.size() - left.size(), left.size(), right);
    return join(words, "_");
  }
  return {};
}

}  // namespace

std::array<bool, 3> mirrored_axes(const AugmentOptions& options) {
  std::array<bool, 3> axes{};
  for (std::size_t axis = 0; axis < 3; ++axis) axes[axis] = options.symmetries || options.flip[axis] > 0;
  return axes;
}

bool names_tell_sides(const Labels& labels) {
  std::set<std::string> names;
  for (const auto& [name, value] : labels) names.insert(snake_case(name));
  names.erase("");  // of other scripts
  for (const std::string& name : names) {
    const std::vector<std::string> words = split(name, '_');
    for (std::size_t i = 0; i < words.size(); ++i)
      if (words[i].starts_with("left") || words[i].starts_with("right") || names.contains(right_of(words, i)))
        return true;
  }
  return false;
}

AugmentOptions nnunet_augmentation() {
  AugmentOptions options;
  options.preset = "nnunet";
  options.symmetries = false;
  options.flip = {0.5, 0.5, 0.5};
  options.rotation = {-30, 30, 0.2};
  options.zoom = {0.7, 1.4, 0.2};
  options.noise = {0, 0.1, 0.1};
  options.blur = {0.5, 1, 0.1};  // its 0.2 per sample times 0.5 per channel
  options.brightness = {0.75, 1.25, 0.15};
  options.contrast = {0.75, 1.25, 0.15};
  options.low_resolution = {0.5, 1, 0.125};  // likewise 0.25 times 0.5
  options.inverted_gamma = {0.7, 1.5, 0.1};
  options.gamma = {0.7, 1.5, 0.3};
  return options;
}

Augmentation draw_augmentation(const AugmentOptions& options, const AugmentKey& key, const Size3& size,
                               std::int64_t channels) {
  assert(key.epoch >> 32 == 0);
  Augmentation drawn;
  drawn.key = key;
  drawn.space.symmetry = draw_symmetry(options, key, size);
  draw_space(options, size[2] == 1, drawn);
  for (std::int64_t c = 0; c < channels; ++c)
    drawn.channels.push_back(draw_channel(options, key, static_cast<std::uint64_t>(c)));
  if (options.channel_dropout > 0) drawn.dropped = draw_dropped(options, key, channels);
  return drawn;
}

bool changes_nothing(const Augmentation& augmentation) {
  SpatialChange still;
  still.elastic_grid = augmentation.space.elastic_grid;
  const auto same = [](const IntensityChange& change) { return change == IntensityChange(); };
  return augmentation.space == still &&
         std::all_of(augmentation.channels.begin(), augmentation.channels.end(), same) &&
         std::find(augmentation.dropped.begin(), augmentation.dropped.end(), true) ==
             augmentation.dropped.end();
}

SpatialMap map_of(const Augmentation& augmentation, const Size3& size, const Spacing& spacing) {
  const auto along = [&](std::uint32_t axis) {
    return stream(augmentation.key, first_of_control_points + axis);
  };
  return {augmentation.space, size, spacing, {along(0), along(1), along(2)}};
}

Philox noise_of(const Augmentation& augmentation, std::size_t channel) {
  return stream(augmentation.key, first_of_voxels + static_cast<std::uint32_t>(channel));
}

std::string describe(const Augmentation& augmentation) {
  std::vector<std::string> parts;
  const auto add = [&](const char* what, double value, double otherwise) {
    if (value != otherwise) parts.push_back(format("{} {:.2f}", what, value));
  };
  if (augmentation.space.symmetry != 0) parts.push_back(describe(symmetry(augmentation.space.symmetry)));
  if (const auto& [x, y, z] = augmentation.space.degrees; x != 0 || y != 0 || z != 0)
    parts.push_back(format("rotated {:.0f} {:.0f} {:.0f}", x, y, z));
  if (const auto& [x, y, z] = augmentation.space.factors; x == y && y == z)
    add("zoom", x, 1);
  else
    parts.push_back(format("scaled {:.2f} {:.2f} {:.2f}", x, y, z));
  add("elastic", augmentation.space.elastic, 0);
  for (std::size_t c = 0; c < augmentation.channels.size(); ++c) {
    const IntensityChange& channel = augmentation.channels[c];
    const std::size_t before = parts.size();
    add("noise", channel.noise, 0);
    add("blur", channel.blur, 0);
    add("brightness", channel.brightness, 1);
    add("shift", channel.shift, 0);
    add("contrast", channel.contrast, 1);
    add("low resolution", channel.low_resolution, 1);
    add("inverted gamma", channel.inverted_gamma, 1);
    add("gamma", channel.gamma, 1);
    if (augmentation.channels.size() > 1 && parts.size() > before)
      parts[before] = format("channel {}: {}", c + 1, parts[before]);
  }
  for (std::size_t c = 0; c < augmentation.dropped.size(); ++c)
    if (augmentation.dropped[c]) parts.push_back(format("channel {} dropped", c + 1));
  return parts.empty() ? "unchanged" : join(parts, ", ");
}

}  // namespace voxswap::data
