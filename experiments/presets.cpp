#include "experiments/presets.h"

#include <algorithm>
#include <utility>

#include "net/networks/networks.h"
#include "pipeline/cases/patches.h"

namespace voxswap::experiments {

namespace {

// Isensee et al., "nnU-Net: a self-configuring method for deep learning-based biomedical image segmentation",
// 2021, and its program's defaults: clipping, the share of patches around labels, and the filters of 3D
// networks.
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

constexpr std::int64_t least_side = 4;  // that nnU-Net leaves of an axis

// Every level halves the axes that stay long enough and whole.
std::vector<net::Along> strides_of(data::Size3 size, std::int64_t most_levels) {
  std::vector<net::Along> strides = {{1, 1, 1}};
  while (static_cast<std::int64_t>(strides.size()) < most_levels) {
    net::Along stride = {1, 1, 1};
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (size[axis] % 2 == 0 && size[axis] >= 2 * least_side) {
        stride[axis] = 2;
        size[axis] /= 2;
      }
    if (stride == net::Along{1, 1, 1}) break;
    strides.push_back(stride);
  }
  return strides;
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

std::vector<std::string> settle_preset(pipeline::RunOptions& options, const Given& given) {
  net::NetworkOptions& network = options.network;
  std::vector<std::string> set;
  if (options.training.preset != pipeline::Preset::nnunet || !net::has_levels(network.name)) return set;
  if (!given("network.depth") && !given("network.strides")) {
    network.strides = strides_of(pipeline::input_size(options), net::network_depths(network.name).second);
    network.depth = std::max<std::int64_t>(2, static_cast<std::int64_t>(network.strides.size()));
    set.insert(set.end(), {"network.depth", "network.strides"});
  }
  if (!given("training.deep_supervision")) {  // the smallest logits have none, where there are others
    network.deep_supervision.assign(1, 1.0);
    for (std::int64_t level = 1; level < network.depth - 2; ++level)
      network.deep_supervision.push_back(network.deep_supervision.back() / 2);
    set.emplace_back("training.deep_supervision");
  }
  return set;
}

}  // namespace voxswap::experiments
