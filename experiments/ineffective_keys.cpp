#include <algorithm>

#include "base/text.h"
#include "experiments/keys.h"
#include "experiments/rules.h"

namespace voxswap::experiments {

namespace {

using Words = std::vector<std::string>;

// Why a key has no effect; empty if it has one.
using Reason = std::function<std::string(const pipeline::RunOptions&)>;

struct Row {
  Words keys;
  Reason reason;
};

// For keys that only have an effect if another key has one of these values.
template <class Field>
Reason unless(const std::string& key, const Words& values, Field field) {
  return [=](const pipeline::RunOptions& o) {
    return is_among(field(o), values) ? "" : format("{} is {}", key, field(o));
  };
}

Reason unless_network(const Words& names) {
  return unless("network.name", names, [](const pipeline::RunOptions& o) { return o.network.name; });
}

Reason unless_planner(const Words& names) {
  return unless("memory.planner", names, [](const pipeline::RunOptions& o) { return o.memory.planner; });
}

// For keys that only affect metrics whose names begin with one of these.
Reason unless_scored(const Words& metrics) {
  return [=](const pipeline::RunOptions& o) {
    const auto begins = [&](const std::string& name) {
      return std::any_of(metrics.begin(), metrics.end(),
                         [&](const std::string& metric) { return name.starts_with(metric); });
    };
    const bool scored = std::any_of(o.evaluate.metrics.begin(), o.evaluate.metrics.end(), begins);
    return scored ? "" : format("evaluate.metrics has no {}", join(metrics, " or "));
  };
}

const std::vector<Row>& rows() {
  static const std::vector<Row> table = {
      {{"data.split.validation", "data.split.seed", "data.split.stratify"},
       [](const pipeline::RunOptions& o) {
         return o.split.file.empty() ? "" : "data.split.file lists the validation cases";
       }},
      {{"data.split.validation"},
       [](const pipeline::RunOptions& o) {
         return o.split.folds > 0 ? "data.split.folds determines the number of validation cases" : "";
       }},
      {{"data.split.table"},
       [](const pipeline::RunOptions& o) {
         const bool named =
             !o.split.stratify.empty() && o.split.stratify != pipeline::SplitOptions::by_foreground;
         const bool has_patients =
             !o.split.patient.empty() && o.split.patient.find('{') == o.split.patient.npos;
         return named || has_patients ? ""
                                      : "neither data.split.stratify nor data.split.patient names a column";
       }},
      {{"network.depth"},
       unless_network({"isensee2017", "unet3d", "plain_unet", "resenc_unet", "resnet3d", "resnet"})},
      {{"network.max_filters"}, unless_network({"plain_unet", "resenc_unet"})},
      {{"network.dropout"}, unless_network({"isensee2017", "deeplabv3"})},
      {{"network.slope"}, unless_network({"isensee2017", "plain_unet", "resenc_unet", "resnet3d"})},
      {{"training.optimizer.reference_batch"},
       unless("training.optimizer.rate_scaling", {"linear", "sqrt"},
              [](const pipeline::RunOptions& o) { return choice_name(o.training.rate.scaling); })},
      {{"training.optimizer.momentum"},
       unless("training.optimizer.name", {"sgd"},
              [](const pipeline::RunOptions& o) { return choice_name(o.training.optimizer.name); })},
      {{"training.averaging.decay"},
       unless("training.averaging.name", {"ema"},
              [](const pipeline::RunOptions& o) { return choice_name(o.training.averaging.name); })},
      {{"training.averaging.start"},
       unless("training.averaging.name", {"ema", "swa"},
              [](const pipeline::RunOptions& o) { return choice_name(o.training.averaging.name); })},
      {{"training.label_smoothing", "training.focal_gamma"},
       unless("training.loss",
              {"cross_entropy", "dice_cross_entropy", "softmax_cross_entropy", "softmax_dice_cross_entropy"},
              [](const pipeline::RunOptions& o) { return choice_name(o.training.loss); })},
      {{"training.batch_dice"},
       unless("training.loss", {"weighted_dice", "dice_cross_entropy", "softmax_dice_cross_entropy"},
              [](const pipeline::RunOptions& o) { return choice_name(o.training.loss); })},
      {{"training.batch_dice"},
       [](const pipeline::RunOptions& o) {
         return o.training.batch_size > 1 ? "" : "training.batch_size is 1";
       }},
      {{"training.schedule.factor", "training.schedule.patience"},
       unless("training.schedule.name", {"plateau"},
              [](const pipeline::RunOptions& o) { return choice_name(o.training.schedule.name); })},
      {{"training.augment.flip"},
       [](const pipeline::RunOptions& o) {
         return o.training.augment.symmetries ? "training.augment.symmetries flips already" : "";
       }},
      {{"training.augment.elastic_grid"},
       [](const pipeline::RunOptions& o) {
         return o.training.augment.elastic.probability > 0 ? "" : "training.augment.elastic is off";
       }},
      {{"training.foreground"},
       [](const pipeline::RunOptions& o) { return o.training.patch ? "" : "training.patch is none"; }},
      {{"training.deterministic"},
       [](const pipeline::RunOptions& o) {
         return is_among(o.memory.device, {"cpu", "reference"})
                    ? format("memory.device is {}", o.memory.device)
                    : "";
       }},
      {{"memory.disk", "memory.link"}, unless_planner({"hybrid", "tflms", "lms-threshold"})},
      {{"memory.tflms.swapout_threshold", "memory.tflms.swapin_ahead", "memory.tflms.swapin_groupby",
        "memory.tflms.sync_mode"},
       unless_planner({"tflms"})},
      {{"memory.lms_threshold"}, unless_planner({"lms-threshold"})},
      {{"evaluate.surface_tolerance"}, unless_scored({"surface_dice", "boundary_iou"})},
      {{"evaluate.lesions.dilation", "evaluate.lesions.volume"}, unless_scored({"lesion_wise"})}};
  return table;
}

}  // namespace

std::map<std::string, std::string> without_effect(const Settings& given,
                                                  const pipeline::RunOptions& options) {
  const pipeline::RunOptions defaults = default_options();
  std::map<std::string, std::string> found;
  for (const Row& row : rows()) {
    const std::string reason = row.reason(options);
    if (reason.empty()) continue;
    for (const Key& key : keys())
      if (is_among(key.path, row.keys) && given.contains(key.path) &&
          key.print(options) != key.print(defaults))
        found[key.path] = reason;
  }
  return found;
}

}  // namespace voxswap::experiments
