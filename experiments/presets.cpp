#include "experiments/presets.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "net/networks/networks.h"
#include "pipeline/cases/patches.h"

namespace voxswap::experiments {

namespace {

// Isensee et al. 2021, "nnU-Net: a self-configuring method for deep learning-based biomedical image
// segmentation", and defaults of its code: clipping, the fraction of foreground patches, and the filters of
// 3D networks.
const std::vector<std::pair<std::string, std::string>>& nnunet() {
  static const std::vector<std::pair<std::string, std::string>> settings = {
      {"network.name", "plain_unet"},
      {"network.base_filters", "32"},
      {"network.max_filters", "320"},
      {"training.epochs", "1000"},
      {"training.batch_size", "2"},
      {"training.optimizer.name", "sgd"},
      {"training.optimizer.learning_rate", "0.01"},
      {"training.optimizer.momentum", "0.99"},
      {"training.optimizer.weight_decay", "3e-5"},
      {"training.optimizer.clip", "12"},
      {"training.schedule.name", "poly"},
      {"training.early_stop", "0"},
      {"training.loss", "softmax_dice_cross_entropy"},
      {"training.augment.preset", "nnunet"},
      {"training.foreground", "0.33"}};
  return settings;
}

}  // namespace

std::vector<std::string> add_preset(Settings& settings) {
  const auto preset = settings.find("training.preset");
  std::vector<std::string> added;
  if (preset == settings.end() || preset->second.text != "nnunet") return added;
  const std::string where = preset->second.where;
  for (const auto& [key, value] : nnunet())
    if (settings.emplace(key, parse_yaml_value(value, where)).second) added.push_back(key);
  return added;
}

std::vector<std::string> settle_preset(pipeline::Experiment& experiment, const Given& given) {
  net::NetworkOptions& network = experiment.network;
  std::vector<std::string> set;
  if (experiment.training.preset != pipeline::Preset::nnunet || !net::has_levels(network.name)) return set;
  if (!given("network.depth") && !given("network.strides")) {
    network.strides = levels_of(pipeline::input_size(experiment), {1, 1, 1},
                                net::network_depths(network.name).second, /*round_up=*/false)
                          .strides;
    network.depth = std::max<std::int64_t>(2, static_cast<std::int64_t>(network.strides.size()));
    set.insert(set.end(), {"network.depth", "network.strides"});
  }
  if (!given("training.deep_supervision")) {
    network.deep_supervision = deep_supervision_weights(network.depth);
    set.emplace_back("training.deep_supervision");
  }
  return set;
}

namespace {

constexpr std::int64_t least_side = 4;  // minimum size of an axis in nnU-Net
constexpr double coarse = 2;            // spacing relative to the finest axis

}  // namespace

Levels levels_of(const Size3& size, Spacing spacing, std::int64_t most_levels, bool round_up) {
  Levels levels;
  Size3 left = size;
  net::Along stride = {1, 1, 1};
  for (;;) {
    const double finest = *std::min_element(spacing.begin(), spacing.end());
    net::Along kernel;
    for (std::size_t axis = 0; axis < 3; ++axis) kernel[axis] = spacing[axis] > coarse * finest ? 1 : 3;
    levels.strides.push_back(stride);
    levels.kernels.push_back(kernel);
    if (static_cast<std::int64_t>(levels.strides.size()) >= most_levels) break;
    const auto can_be_halved = [&](std::size_t axis) {
      return left[axis] >= 2 * least_side && (round_up || left[axis] % 2 == 0);
    };
    double shortest = std::numeric_limits<double>::infinity();
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (can_be_halved(axis)) shortest = std::min(shortest, spacing[axis]);
    stride = {1, 1, 1};
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (can_be_halved(axis) && spacing[axis] <= coarse * shortest) stride[axis] = 2;
    if (stride == net::Along{1, 1, 1}) break;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      left[axis] = (left[axis] + stride[axis] - 1) / stride[axis];
      spacing[axis] *= static_cast<double>(stride[axis]);
    }
  }
  levels.size = left;
  for (const net::Along& one : levels.strides)
    for (std::size_t axis = 0; axis < 3; ++axis) levels.size[axis] *= one[axis];
  return levels;
}

Size3 rounded_up(const Size3& size, const Spacing& spacing) {
  return levels_of(size, spacing, most_levels, /*round_up=*/true).size;
}

std::vector<double> deep_supervision_weights(std::int64_t depth) {
  std::vector<double> weights = {1};
  for (std::int64_t level = 1; level < depth - 2; ++level) weights.push_back(weights.back() / 2);
  return weights;
}

}  // namespace voxswap::experiments
