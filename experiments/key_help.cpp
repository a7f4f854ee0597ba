#include "experiments/key_help.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "experiments/keys.h"

namespace voxswap::experiments {

namespace {

constexpr std::array common_keys = {"name",
                                    "data.root",
                                    "data.layout",
                                    "data.modalities",
                                    "data.labels",
                                    "data.regions",
                                    "data.split.validation",
                                    "data.split.folds",
                                    "data.split.fold",
                                    "preprocess.resolution",
                                    "preprocess.normalize",
                                    "network.name",
                                    "network.base_filters",
                                    "network.depth",
                                    "network.init",
                                    "training.preset",
                                    "training.epochs",
                                    "training.batch_size",
                                    "training.optimizer.learning_rate",
                                    "training.loss",
                                    "training.patch",
                                    "training.precision",
                                    "training.seed",
                                    "training.augment.preset",
                                    "memory.device",
                                    "memory.budget",
                                    "memory.host",
                                    "memory.disk",
                                    "evaluate.metrics",
                                    "output.dir"};

constexpr std::array<std::pair<std::string_view, std::string_view>, 9> sections = {
    {{"data", "Data"},
     {"preprocess", "Preprocessing"},
     {"network", "Network"},
     {"training.augment", "Augmentation"},
     {"training", "Training"},
     {"memory", "Memory"},
     {"ranks", "Ranks"},
     {"evaluate", "Evaluation"},
     {"", "Experiment"}}};

// Heading of the first section whose name is a prefix of the path.
std::string_view heading_of(std::string_view path) {
  for (const auto& [name, heading] : sections) {
    if (name.empty() || (path.starts_with(name) && path.substr(name.size()).starts_with('.'))) return heading;
  }
  return "";
}

std::string lines_of(const Key& key) {
  constexpr std::size_t width = 100, column = 49;
  std::string start = format("  {:<34} {:<11}", key.path, default_text(key));
  start += start.size() < column ? " " : "\n" + std::string(column, ' ');
  const bool is_choice = key.expected.find(" | ") != key.expected.npos;
  return start + wrapped(key.meaning + (is_choice ? " (" + key.expected + ")" : ""), width, column) + "\n";
}

}  // namespace

std::vector<KeySection> key_sections() {
  std::vector<KeySection> all;
  for (const auto& [section, heading] : sections) {
    KeySection& one = all.emplace_back();
    one.heading = heading;
    for (const Key& key : keys())
      if (heading_of(key.path) == heading) one.keys.push_back(&key);
  }
  return all;
}

std::string default_text(const Key& key) {
  static const pipeline::Experiment defaults = default_experiment();
  return key.path == "name" ? "FILE's name" : key.print(defaults);
}

std::string describe_keys(Keys which) {
  std::string text;
  for (const KeySection& section : key_sections()) {
    std::string lines;
    for (const Key* key : section.keys) {
      const bool is_common =
          std::find(common_keys.begin(), common_keys.end(), key->path) != common_keys.end();
      if (which == Keys::all || is_common) lines += lines_of(*key);
    }
    if (!lines.empty()) text += format("\n{}\n{}", section.heading, lines);
  }
  return text;
}

}  // namespace voxswap::experiments
