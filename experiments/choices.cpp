#include "experiments/choices.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "data/augment/augment.h"
#include "experiments/keys.h"
#include "experiments/presets.h"
#include "experiments/training_grid.h"
#include "experiments/value_types.h"
#include "experiments/yaml.h"

namespace voxswap::experiments {

namespace {

using pipeline::Fingerprint;

constexpr double worth_cropping = 0.1;       // fraction of the voxels
constexpr double mostly_background = 0.25;   // threshold from which nnU-Net normalises within the mask
constexpr double of_air = -200;              // in Hounsfield units; other modalities have no such values
constexpr std::int64_t image_multiple = 32;  // largest downsampling factor of 2D networks

bool is_ct(const Fingerprint& fingerprint) {
  const std::vector<std::string>& names = fingerprint.dataset.modalities;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (lower(names[i]) == "ct" || fingerprint.median_intensities(i).lowest() < of_air) return true;
  return false;
}

// True if data::observed_labels() made the names because the data set has none.
bool has_unnamed_labels(const data::Dataset& dataset) {
  const data::Labels& labels = dataset.labels;
  return !dataset.classes && !labels.empty() &&
         std::all_of(labels.begin(), labels.end(),
                     [](const auto& label) { return label.first == format("label_{}", label.second); });
}

Size3 multiple_of_image(Size3 size) {
  for (std::size_t axis = 0; axis < 2; ++axis)
    size[axis] = (size[axis] + image_multiple - 1) / image_multiple * image_multiple;
  return size;
}

bool worth_a_crop(const Fingerprint& fingerprint) {
  return fingerprint.cropped_away() >= worth_cropping && !fingerprint.dataset.images;
}

}  // namespace

std::string list_text(const Size3& size) {
  return size[2] == 1 ? format("[{}, {}]", size[0], size[1])
                      : format("[{}, {}, {}]", size[0], size[1], size[2]);
}

std::string name_of(const fs::path& root) {
  const std::string name = snake_case((root.has_filename() ? root : root.parent_path()).filename().string());
  return name.empty() ? "experiment" : name;
}

std::string network_name(const data::Dataset& dataset) {
  return dataset.classes ? "resnet18" : dataset.images ? "deeplabv3" : "plain_unet";
}

std::vector<Choice> data_choices(const Fingerprint& fingerprint, const ConfigureRequest& request) {
  const data::Dataset& dataset = fingerprint.dataset;
  const auto labelled = std::count_if(dataset.cases.begin(), dataset.cases.end(),
                                      [](const auto& files) { return files.labelled(); });
  const std::int64_t folds = std::min<std::int64_t>(request.folds, labelled);
  std::vector<Choice> choices = {
      {"name", yaml_scalar(name_of(dataset.root)), "name of the data set's folder; results go to runs/NAME"},
      {"data.root", yaml_scalar(fs::absolute(dataset.root).lexically_normal().string()),
       "folder of the data set"},
      {"data.layout", dataset.layout, dataset.recognised}};
  if (has_unnamed_labels(dataset)) {
    std::vector<std::string> labels;
    for (const auto& [name, value] : dataset.labels) labels.push_back(format("{}: {}", name, value));
    choices.push_back({"data.labels", "{" + join(labels, ", ") + "}",
                       "values found in the label maps; replace these generated names"});
  }
  if (folds > 1) {
    choices.push_back({"data.split.folds", std::to_string(folds),
                       format("{}-fold cross-validation: each case is validated once", folds)});
    choices.push_back(
        {"data.split.fold", "0",
         format("validation fold of this run; a sweep over folds 0 to {} trains all", folds - 1)});
  }
  return choices;
}

std::vector<Choice> preprocess_choices(const Fingerprint& fingerprint, bool resize) {
  const data::Dataset& dataset = fingerprint.dataset;
  const auto in_corners = std::count_if(fingerprint.cases.begin(), fingerprint.cases.end(),
                                        [](const auto& one) { return one.background_in_corners; });
  const double away = fingerprint.cropped_away();
  const bool ct = is_ct(fingerprint), crop = worth_a_crop(fingerprint);
  const std::string share =
      format("{:.0f} % of the median case is outside the foreground{}", 100 * away,
             away < worth_cropping ? format("; cropping starts at {:.0f} %", 100 * worth_cropping) : "");
  std::vector<Choice> choices;
  if (2 * in_corners > static_cast<std::int64_t>(fingerprint.cases.size()))
    choices.push_back({"preprocess.background", "corner",
                       format("in {} of {} all corners have the same value, which is not 0", in_corners,
                              counted(fingerprint.cases.size(), "case"))});
  choices.push_back({"preprocess.crop", crop ? "foreground" : "none", share});
  const Size3 median = crop ? fingerprint.median_foreground() : fingerprint.median_size();
  const std::string halved = format("median {}, {}, rounded up to sides that the network can halve",
                                    crop ? "foreground" : "case", list_text(median));
  if (dataset.images)
    choices.push_back({"preprocess.resolution", list_text(multiple_of_image(median)), halved});
  else if (resize)
    choices.push_back(
        {"preprocess.resolution", list_text(rounded_up(median, fingerprint.median_spacing())), halved});
  else
    choices.push_back({"preprocess.spacing", value_types::spacing_text(fingerprint.target_spacing()),
                       "median voxel size, mm; finer along an axis with thick slices, as in nnU-Net"});
  if (ct) {
    choices.push_back({"preprocess.normalize", "ct", "Hounsfield units are comparable between images"});
  } else {
    const bool masked = crop && away >= mostly_background;
    choices.push_back({"preprocess.normalize", masked ? "masked" : "image",
                       format("intensities have no unit: mean and standard deviation of each image{}",
                              masked ? "'s foreground; the background stays 0" : "")});
  }
  return choices;
}

std::vector<Choice> training_choices(const Fingerprint& fingerprint, const ConfigureRequest& request,
                                     bool on_gpu) {
  const data::Dataset& dataset = fingerprint.dataset;
  const bool nested = std::any_of(dataset.regions.begin(), dataset.regions.end(),
                                  [](const auto& region) { return region.second.size() > 1; });
  std::vector<Choice> choices = {
      {"network.name", network_name(dataset),
       dataset.classes  ? "image classification"
       : dataset.images ? "2D images with labels per pixel"
                        : "as in nnU-Net"},
      {"network.base_filters", on_gpu ? "32" : "16",
       on_gpu ? "as in nnU-Net" : "half of nnU-Net's 32, for speed on a CPU"},
      {"training.optimizer.learning_rate", "0.001",
       "for Adam, more accurate than nnU-Net's SGD after 16 epochs"},
      {"training.schedule.name", "cosine", "the learning rate falls to 0 by the last epoch"},
      {"training.early_stop", "0", "off: training follows the schedule to its last epoch"},
      {"training.precision", "auto", "the fastest that is safe on the device"},
      {"memory.budget", request.memory ? format("{}B", *request.memory) : "auto",
       request.memory ? "from --memory" : "free memory minus a reserve"}};
  choices.push_back({"training.loss", dataset.classes ? "softmax_cross_entropy" : "dice_cross_entropy",
                     dataset.classes ? "one class per image" : "Dice and cross-entropy, as in nnU-Net"});
  if (nested && !dataset.classes)
    choices.push_back({"training.targets", "regions", "regions are scored, and some contain several labels"});
  if (dataset.images) return choices;
  choices.push_back({"training.augment.preset", "nnunet", "as in nnU-Net, except for the keys below"});
  const bool sides = data::names_tell_sides(dataset.labels);
  choices.push_back({"training.augment.flip", sides ? "0" : "[0.5, 0, 0]",
                     sides ? "labels distinguish left and right" : "anatomy is left-right symmetric"});
  if (!sides)
    choices.push_back({"evaluate.tta", "true", "predictions averaged over mirrored inputs, as in nnU-Net"});
  choices.push_back({"training.augment.rotation", "{range: [-20, 20], probability: 0.5}",
                     "probability 0.5 instead of nnU-Net's 0.2, which is chosen for 1000 epochs"});
  choices.push_back({"training.augment.zoom", "{range: [0.8, 1.25], probability: 0.5}", "as rotation"});
  return choices;
}

}  // namespace voxswap::experiments
