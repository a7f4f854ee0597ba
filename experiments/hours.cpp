#include "experiments/hours.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/keys.h"
#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "metrics/box_statistics.h"

namespace voxswap::experiments {

namespace {

constexpr double for_the_rest = 0.05;       // fraction of the hours for preparing, predicting and the report
constexpr double part_of_growth = 1.0 / 3;  // of the remaining time
// After this number of steps, training another network gains more (docs/results/dice.md).
constexpr std::int64_t steps_of_a_network = 15'000, most_networks = 5;
constexpr std::int64_t fewest_steps = 500;                               // minimum for useful training
constexpr std::array<double, 6> factors = {1.25, 1.5, 1.75, 2, 2.5, 3};  // of the voxel size
constexpr double fewest_voxels = 500;  // of a label; with fewer, resampling alone changes its shape

// The smallest median volume of a label over the cases that contain it, mm^3.
double smallest_label(const pipeline::Fingerprint& fingerprint) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const auto& [name, value] : fingerprint.dataset.labels) {
    std::vector<double> volumes;
    for (const pipeline::CaseFingerprint& one : fingerprint.cases) {
      const auto found = one.labels.find(value);
      if (found == one.labels.end()) continue;
      const Spacing& side = one.grid.spacing;
      volumes.push_back(static_cast<double>(found->second.voxels) * side[0] * side[1] * side[2]);
    }
    if (!volumes.empty()) smallest = std::min(smallest, metrics::quantile(volumes, 0.5));
  }
  return smallest;
}

double training_seconds(double hours) {
  return hours * 3600 * (1 - for_the_rest);
}

}  // namespace

std::int64_t possible_epochs(const Candidate& candidate, double hours) {
  return static_cast<std::int64_t>((training_seconds(hours) - candidate.growth_seconds) /
                                   candidate.epoch_seconds);
}

std::int64_t possible_steps(const Candidate& candidate, double hours) {
  return (candidate.growth_epochs + possible_epochs(candidate, hours)) * candidate.epoch_steps;
}

std::string growth_text(std::int64_t epochs) {
  return format("{{2: {}}}", epochs);
}

void add_growth(Candidate& candidate, double epoch_seconds, double hours) {
  candidate.growth_epochs = std::min(
      static_cast<std::int64_t>(training_seconds(hours) * part_of_growth / epoch_seconds), most_epochs);
  if (candidate.growth_epochs == 0) return;
  candidate.growth_seconds = static_cast<double>(candidate.growth_epochs) * epoch_seconds;
  candidate.choices.push_back(
      {key::training_growth, growth_text(candidate.growth_epochs),
       format("epochs of {} at twice the voxel size, a third of the time: a higher Dice than on one grid",
              format_seconds(epoch_seconds))});
}

std::int64_t networks_within(const Candidate& candidate, double hours) {
  return std::clamp<std::int64_t>(possible_steps(candidate, hours) / steps_of_a_network, 1, most_networks);
}

std::vector<Choice> choices_for_networks(std::int64_t networks) {
  if (networks == 1) return {};
  return {{key::training_repeats, std::to_string(networks),
           format("networks to train for at least {} each: beyond that, another network improves more than "
                  "longer training",
                  counted(steps_of_a_network, "step"))},
          {"evaluate.ensemble", "true", "predictions of all networks are averaged"}};
}

Choice epochs_within(const Candidate& candidate, double hours, std::int64_t networks) {
  const std::int64_t possible = possible_epochs(candidate, hours / static_cast<double>(networks));
  if (possible < 1)
    fail(Exit::does_not_fit, "--hours {}: one epoch takes {}. Set --hours of at least {:.2g}", number(hours),
         format_seconds(candidate.epoch_seconds),
         std::ceil(static_cast<double>(networks) * candidate.epoch_seconds / 36 / (1 - for_the_rest)) / 100);
  const std::int64_t epochs = std::min(possible, most_epochs);
  return {"training.epochs", std::to_string(epochs),
          epochs < possible
              ? "as many as in nnU-Net"
              : format("epochs of {} fit into {}{}, minus {:.0f} % for preprocessing and prediction{}",
                       format_seconds(candidate.epoch_seconds), format_seconds(hours * 3600),
                       networks == 1 ? "" : " for " + counted(networks, "network"), 100 * for_the_rest,
                       candidate.growth_epochs == 0 ? "" : ", after those of training.growth")};
}

void warn_of_few_steps(const Candidate& candidate, double hours, std::int64_t networks) {
  const std::int64_t epochs =
      std::min(possible_epochs(candidate, hours / static_cast<double>(networks)), most_epochs);
  const std::int64_t steps = (candidate.growth_epochs + epochs) * candidate.epoch_steps;
  if (steps >= fewest_steps) return;
  log::warn("--hours {}: only {} of training fit, too few to train a network. Set more hours: {} take {}",
            number(hours), counted(steps, "step"), counted(fewest_steps, "step"),
            format_seconds(static_cast<double>(fewest_steps * networks) * candidate.epoch_seconds /
                           static_cast<double>(candidate.epoch_steps)));
}

std::vector<Spacing> coarser_spacings(const pipeline::Fingerprint& fingerprint, const Spacing& spacing) {
  const double smallest = smallest_label(fingerprint);
  const double finest = std::min({spacing[0], spacing[1], spacing[2]});
  std::vector<Spacing> coarser;
  for (const double factor : factors) {
    Spacing sides = spacing;
    for (double& side : sides) side = std::max(side, std::round(100 * factor * finest) / 100);
    if (smallest < fewest_voxels * sides[0] * sides[1] * sides[2]) break;
    coarser.push_back(sides);
  }
  return coarser;
}

}  // namespace voxswap::experiments
