#include <algorithm>

#include "base/error.h"
#include "experiments/keys.h"
#include "experiments/value_types.h"

// Accessor of a member of the experiment, for reading and printing.
#define AT(member)       \
  [](auto& o) -> auto& { \
    return o.member;     \
  }

namespace voxswap::experiments {

using namespace value_types;

namespace {

using Weights = std::vector<std::pair<std::string, double>>;

Weights read_weights(const Yaml& value, const std::string& path) {
  Weights weights;
  for (const auto& [name, entry] : value.entries) {
    const auto is_this = [&](const auto& other) { return other.first == name; };
    if (std::any_of(weights.begin(), weights.end(), is_this))
      fail(Exit::usage, "{}: {}: '{}' is listed twice", entry.where, path, name);
    weights.emplace_back(name, read_number(entry, path + "." + name, {0, 1e6, true}));
  }
  return weights;
}

Key class_weights() {
  const std::string path = "training.class_weights";
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    pipeline::ClassWeights& weights = o.training.class_weights;
    weights = {};
    if (is_word(value, "none")) return;
    weights.automatic = is_word(value, "auto");
    if (weights.automatic) return;
    if (value.kind != Yaml::Kind::map || value.entries.empty())
      wrong(value, path, "none, auto or a map such as {background: 0.5, edema: 2}");
    weights.by_name = read_weights(value, path);
  };
  const auto print = [](const pipeline::Experiment& o) {
    const pipeline::ClassWeights& weights = o.training.class_weights;
    if (weights.by_name.empty()) return std::string(weights.automatic ? "auto" : "none");
    std::string text;
    for (const auto& [name, weight] : weights.by_name)
      text += format("{}{}: {}", text.empty() ? "" : ", ", yaml_scalar(name), number(weight));
    return "{" + text + "}";
  };
  return {path,
          "none | auto | a map of output: weight",
          "Weight of each output in the loss (auto: from label frequencies)",
          read,
          print,
          Key::Shape::map,
          allowed::any_of(
              {allowed::choice({"none", "auto"}), allowed::map_of(allowed::number({0, 1e6, true}), 1)})};
}

}  // namespace

Key ignore_label() {
  const std::string path = "data.ignore_label";
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    o.data.ignore_label.reset();
    if (is_word(value, "auto")) return;
    o.data.ignore_label = is_word(value, "none") ? 0 : static_cast<int>(read_whole(value, path, {1, 32767}));
  };
  const auto print = [](const pipeline::Experiment& o) {
    if (!o.data.ignore_label) return std::string("auto");
    return *o.data.ignore_label == 0 ? "none" : std::to_string(*o.data.ignore_label);
  };
  return {path,
          "auto | none | a label value",
          "Label value excluded from loss and metrics (auto: nnU-Net's label \"ignore\")",
          read,
          print,
          Key::Shape::value,
          allowed::any_of({allowed::choice({"auto", "none"}), allowed::whole({1, 32767})})};
}

std::vector<Key> loss_keys() {
  return {real("training.label_smoothing", "Label smoothing of cross entropy", AT(training.label_smoothing),
               {0, 1, false, true}),
          real("training.focal_gamma", "Exponent of the focal loss (0: plain cross entropy)",
               AT(training.focal_gamma), {0, 10}),
          on_off("training.batch_dice", "Dice loss over the whole batch instead of per sample",
                 AT(training.batch_dice)),
          class_weights()};
}

}  // namespace voxswap::experiments

#undef AT
