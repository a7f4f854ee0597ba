#include "pipeline/cases/loss_settings.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/keys.h"
#include "base/text.h"

namespace voxswap::pipeline {

void settle_loss(TrainingOptions& training, const data::Dataset& dataset) {
  training.ignores = dataset.ignore_label != 0;
  const auto& given = training.class_weights.by_name;
  if (given.empty()) return;
  const std::vector<std::string> names = output_names(dataset, training);
  training.output_weights.assign(names.size(), 1.0);
  for (const auto& [name, weight] : given) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      const std::string guess = nearest(name, names);
      fail(Exit::usage, "{}: no output is named '{}'{}; there are {}", key::training_class_weights, name,
           guess.empty() ? "" : ", did you mean '" + guess + "'?", join(names, ", "));
    }
    training.output_weights[static_cast<std::size_t>(found - names.begin())] = weight;
  }
}

void weigh_by_frequency(TrainingOptions& training, Cases& cases, const std::vector<std::size_t>& of) {
  const std::vector<std::vector<int>> classes = output_classes(cases.dataset(), training);
  const int ignored = cases.dataset().ignore_label;
  std::vector<std::int64_t> voxels(1U << 16);  // by label value, as an unsigned 16-bit number
  for (const std::size_t index : of) {
    throw_if_interrupted();
    const data::CaseFiles& files = cases.dataset().cases[index];
    if (cases.dataset().classes) ++voxels[static_cast<std::uint16_t>(files.label)];
    for (const std::int16_t value : cases.prepared(index)->truth) ++voxels[static_cast<std::uint16_t>(value)];
  }
  std::int64_t all = 0;
  for (std::size_t value = 0; value < voxels.size(); ++value)
    if (ignored == 0 || value != static_cast<std::size_t>(ignored)) all += voxels[value];
  training.output_weights.clear();
  for (const std::vector<int>& values : classes) {
    std::int64_t own = 0;
    for (const int value : values) own += voxels[static_cast<std::uint16_t>(value)];
    const double frequency = all == 0 ? 0 : static_cast<double>(own) / static_cast<double>(all);
    training.output_weights.push_back(1 / std::log(1.02 + frequency));
  }
}

net::LossOptions loss_of(const TrainingOptions& training) {
  net::LossOptions loss = net::loss_options(training.loss);
  loss.smoothing = training.label_smoothing;
  loss.focus = training.focal_gamma;
  loss.weights = training.output_weights;
  loss.batch_dice = training.batch_dice;
  loss.ignores = training.ignores;
  return loss;
}

std::string weights_text(const TrainingOptions& training, const data::Dataset& dataset) {
  const std::vector<std::string> names = output_names(dataset, training);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < training.output_weights.size(); ++i)
    parts.push_back(format("{} {:.3g}", names[i], training.output_weights[i]));
  return join(parts, ", ");
}

}  // namespace voxswap::pipeline
