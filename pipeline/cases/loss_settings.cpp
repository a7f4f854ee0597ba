#include "pipeline/cases/loss_settings.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/keys.h"
#include "base/text.h"

namespace voxswap::pipeline {

std::vector<double> weights_by_name(const TrainingOptions& training, const data::Dataset& dataset) {
  if (unknown_in(dataset) == net::Unknown::outputs && net::loss_options(training.loss).classes)
    fail(Exit::usage, "{}: {} needs exclusive labels, but some cases are partially annotated ({}). Use {}",
         key::training_loss, choice_name(training.loss), key::data_annotated,
         choice_name(net::Loss::dice_cross_entropy));
  const auto& given = training.class_weights.by_name;
  if (given.empty()) return {};
  const std::vector<std::string> names = output_names(dataset, training);
  std::vector<double> weights(names.size(), 1.0);
  for (const auto& [name, weight] : given) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      const std::string guess = nearest(name, names);
      fail(Exit::usage, "{}: no output has the name '{}'.{} There are {}", key::training_class_weights, name,
           guess.empty() ? "" : " Did you mean '" + guess + "'?", join(names, ", "));
    }
    weights[static_cast<std::size_t>(found - names.begin())] = weight;
  }
  return weights;
}

std::vector<double> weights_by_frequency(const TrainingOptions& training, Cases& cases,
                                         const std::vector<std::size_t>& of) {
  const std::vector<std::vector<int>> outputs = output_classes(cases.dataset(), training);
  const int ignored = cases.dataset().ignore_label;
  std::vector<double> own(outputs.size()),
      all(outputs.size());                     // voxels of the cases where the output is annotated
  std::vector<std::int64_t> voxels(1U << 16);  // by label value, as an unsigned 16-bit number
  for (const std::size_t index : of) {
    throw_if_interrupted();
    const data::CaseFiles& files = cases.dataset().cases[index];
    std::fill(voxels.begin(), voxels.end(), 0);
    if (cases.dataset().classes) ++voxels[static_cast<std::uint16_t>(files.label)];
    for (const std::int16_t value : cases.prepared(index)->truth) ++voxels[static_cast<std::uint16_t>(value)];
    if (ignored != 0) voxels[static_cast<std::uint16_t>(ignored)] = 0;
    const auto counted = static_cast<double>(std::accumulate(voxels.begin(), voxels.end(), std::int64_t{0}));
    for (std::size_t c = 0; c < outputs.size(); ++c) {
      if (!files.is_annotated(outputs[c])) continue;
      all[c] += counted;
      for (const int value : outputs[c])
        own[c] += static_cast<double>(voxels[static_cast<std::uint16_t>(value)]);
    }
  }
  std::vector<double> weights;
  for (std::size_t c = 0; c < outputs.size(); ++c)
    weights.push_back(1 / std::log(1.02 + (all[c] == 0 ? 0 : own[c] / all[c])));
  return weights;
}

net::LossOptions loss_of(const TrainingOptions& training, net::Unknown unknown,
                         const std::vector<double>& weights) {
  net::LossOptions loss = net::loss_options(training.loss);
  loss.smoothing = training.label_smoothing;
  loss.focus = training.focal_gamma;
  loss.weights = weights;
  loss.batch_dice = training.batch_dice;
  loss.unknown = unknown;
  return loss;
}

std::string weights_text(const std::vector<double>& weights, const TrainingOptions& training,
                         const data::Dataset& dataset) {
  const std::vector<std::string> names = output_names(dataset, training);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < weights.size(); ++i) parts.push_back(format("{} {:.3g}", names[i], weights[i]));
  return join(parts, ", ");
}

}  // namespace voxswap::pipeline
