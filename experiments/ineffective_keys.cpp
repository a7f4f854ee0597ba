#include <algorithm>

#include "base/text.h"
#include "experiments/keys.h"
#include "experiments/rules.h"

namespace voxswap::experiments {

namespace {

using Words = std::vector<std::string>;

// Why a key has no effect; empty if it has one.
using Reason = std::function<std::string(const pipeline::Experiment&)>;

struct Row {
  Words keys;
  Reason reason;
};

// For keys that only have an effect if another key has one of these values.
Reason unless(const std::string& key, const Words& values) {
  return [=](const pipeline::Experiment& o) {
    const std::string value = find_key(key)->print(o);
    return is_among(value, values) ? "" : format("{} is {}", key, value);
  };
}

// For keys that have no effect if this holds.
template <class Condition>
Reason because(const std::string& reason, Condition holds) {
  return [=](const pipeline::Experiment& o) { return holds(o) ? reason : ""; };
}

// For keys that only affect metrics whose names begin with one of these.
Reason unless_scored(const Words& metrics) {
  return [=](const pipeline::Experiment& o) {
    const auto begins = [&](const std::string& name) {
      return std::any_of(metrics.begin(), metrics.end(),
                         [&](const std::string& metric) { return name.starts_with(metric); });
    };
    const bool scored = std::any_of(o.evaluate.metrics.begin(), o.evaluate.metrics.end(), begins);
    return scored ? "" : format("evaluate.metrics has no {}", join(metrics, " or "));
  };
}

bool names_no_column(const pipeline::SplitOptions& split) {
  const bool stratified = !split.stratify.empty() && split.stratify != pipeline::SplitOptions::by_foreground;
  const bool has_patients = !split.patient.empty() && split.patient != pipeline::SplitOptions::known &&
                            split.patient.find('{') == split.patient.npos;
  return !stratified && !has_patients;
}

const std::vector<Row>& rows() {
  static const std::vector<Row> table = {
      {{"data.split.validation", "data.split.seed", "data.split.stratify"},
       because("data.split.file lists the validation cases", [](auto& o) { return !o.split.file.empty(); })},
      {{"data.split.validation"},
       because("data.split.folds determines the number of validation cases",
               [](auto& o) { return o.split.folds > 0; })},
      {{"data.split.table"},
       because("neither data.split.stratify nor data.split.patient names a column",
               [](auto& o) { return names_no_column(o.split); })},
      {{"preprocess.schemes", "preprocess.transpose"}, unless("preprocess.recipe", {"nnunet"})},
      {{"preprocess.crop", "preprocess.clip", "preprocess.background"},
       because("preprocess.recipe is nnunet",
               [](auto& o) { return o.preprocess.recipe == data::Recipe::nnunet; })},
      {{"network.depth"},
       unless("network.name", {"isensee2017", "unet3d", "plain_unet", "resenc_unet", "resnet3d", "resnet"})},
      {{"network.max_filters"}, unless("network.name", {"plain_unet", "resenc_unet"})},
      {{"network.dropout"}, unless("network.name", {"isensee2017", "deeplabv3"})},
      {{"network.slope"}, unless("network.name", {"isensee2017", "plain_unet", "resenc_unet", "resnet3d"})},
      {{"training.optimizer.reference_batch"}, unless("training.optimizer.rate_scaling", {"linear", "sqrt"})},
      {{"training.optimizer.momentum"}, unless("training.optimizer.name", {"sgd"})},
      {{"training.averaging.decay"}, unless("training.averaging.name", {"ema"})},
      {{"training.averaging.start"}, unless("training.averaging.name", {"ema", "swa"})},
      {{"training.label_smoothing", "training.focal_gamma"},
       unless("training.loss", {"cross_entropy", "dice_cross_entropy", "softmax_cross_entropy",
                                "softmax_dice_cross_entropy"})},
      {{"training.batch_dice"},
       unless("training.loss", {"weighted_dice", "dice_cross_entropy", "softmax_dice_cross_entropy"})},
      {{"training.batch_dice"},
       because("training.batch_size is 1", [](auto& o) { return o.training.batch_size <= 1; })},
      {{"training.schedule.factor", "training.schedule.patience"},
       unless("training.schedule.name", {"plateau"})},
      {{"training.augment.flip"},
       because("training.augment.symmetries flips already",
               [](auto& o) { return o.training.augment.symmetries; })},
      {{"training.augment.elastic_grid"},
       because("training.augment.elastic is off",
               [](auto& o) { return !(o.training.augment.elastic.probability > 0); })},
      {{"training.foreground"}, because("training.patch is none", [](auto& o) { return !o.training.patch; })},
      {{"training.deterministic"},
       because("memory.device is cpu", [](auto& o) { return o.memory.device == "cpu"; })},
      {{"training.deterministic"},
       because("memory.device is reference", [](auto& o) { return o.memory.device == "reference"; })},
      {{"memory.disk", "memory.link"}, unless("memory.planner", {"hybrid", "tflms", "lms-threshold"})},
      {{"memory.tflms.swapout_threshold", "memory.tflms.swapin_ahead", "memory.tflms.swapin_groupby",
        "memory.tflms.sync_mode"},
       unless("memory.planner", {"tflms"})},
      {{"memory.lms_threshold"}, unless("memory.planner", {"lms-threshold"})},
      {{"evaluate.surface_tolerance"}, unless_scored({"surface_dice", "boundary_iou"})},
      {{"evaluate.lesions.dilation", "evaluate.lesions.volume"}, unless_scored({"lesion_wise"})}};
  return table;
}

}  // namespace

std::map<std::string, std::string> without_effect(const Settings& given,
                                                  const pipeline::Experiment& experiment) {
  const pipeline::Experiment defaults = default_experiment();
  std::map<std::string, std::string> found;
  for (const Row& row : rows()) {
    const std::string reason = row.reason(experiment);
    if (reason.empty()) continue;
    for (const Key& key : keys())
      if (is_among(key.path, row.keys) && given.contains(key.path) &&
          key.print(experiment) != key.print(defaults))
        found[key.path] = reason;
  }
  return found;
}

}  // namespace voxswap::experiments
