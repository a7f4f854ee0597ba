#include "experiments/rules.h"

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "base/text.h"
#include "experiments/keys.h"
#include "experiments/map_keys.h"
#include "net/networks/networks.h"
#include "pipeline/cases/patches.h"
#include "pipeline/cases/split.h"

namespace voxswap::experiments {

namespace {

std::string nearest_multiples(std::int64_t side, std::int64_t multiple) {
  const std::int64_t below = side / multiple * multiple, above = below + multiple;
  return below == 0 ? std::to_string(above) : format("{} or {}", below, above);
}

void check_depth(const pipeline::Experiment& experiment, const Where& where) {
  const auto [least, most] = net::network_depths(experiment.network.name);
  if (experiment.network.depth < least || experiment.network.depth > most)
    fail(Exit::usage, "{}: network.depth: {} supports {} to {}, found {}", where("network.depth"),
         experiment.network.name, least, most, experiment.network.depth);
}

// The network's input, a patch or whole volume, must be divisible by the strides of all levels.
void check_sides(const pipeline::Experiment& experiment, const Where& where) {
  if (experiment.preprocess.automatic_resolution && !experiment.training.patch) return;
  const std::string key = experiment.training.patch ? "training.patch" : "preprocess.resolution";
  const net::Along multiples = net::side_multiples(experiment.network);
  const Size3 size = pipeline::input_size(experiment);
  const std::string rule =
      format("a multiple of {} (network {} of depth {})", net::side_multiples_text(experiment.network),
             experiment.network.name, experiment.network.depth);
  const std::string place = where(key);
  const bool is_cube = size[0] == size[1] && size[1] == size[2];
  if (is_cube && multiples[0] == multiples[1] && multiples[1] == multiples[2]) {
    const std::int64_t multiple = multiples[0];
    if (size[0] % multiple != 0)
      fail(Exit::usage, "{}: {}: {} does not fit: each side must be {}. Use {}", place, key, size[0], rule,
           nearest_multiples(size[0], multiple));
    return;
  }
  std::vector<std::string> wrong;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (size[axis] % multiples[axis] != 0)
      wrong.push_back(format("{} is {}; use {}", "xyz"[axis], size[axis],
                             nearest_multiples(size[axis], multiples[axis])));
  }
  if (!wrong.empty() && size[2] == 1 && multiples[2] > 1)
    fail(Exit::usage, "{}: {}: [x, y] is for 2D images. Network {} takes volumes: use [x, y, z]", place, key,
         experiment.network.name);
  if (!wrong.empty())
    fail(Exit::usage, "{}: {}: each side must be {}: {}", place, key, rule, join(wrong, "; "));
}

void check_spacing(const pipeline::Experiment& experiment, const Where& where, const Given& given) {
  const data::PrepareOptions& preprocess = experiment.preprocess;
  if (!preprocess.by_spacing() && !preprocess.automatic_spacing) {
    if (preprocess.automatic_resolution)
      fail(Exit::usage, "{}: preprocess.resolution: auto needs a spacing. Set preprocess.spacing=auto",
           where("preprocess.resolution"));
    return;
  }
  if (net::takes_images(experiment.network.name))
    fail(Exit::usage,
         "{}: preprocess.spacing: {} takes 2D images, which are resized to preprocess.resolution",
         where("preprocess.spacing"), experiment.network.name);
  if (experiment.training.preset == pipeline::Preset::nnunet && preprocess.automatic_resolution &&
      !experiment.training.patch && !given("network.depth") && !given("network.strides"))
    fail(
        Exit::usage,
        "{}: training.preset: nnunet chooses the levels of the network for training.patch, which is not set. "
        "Set it, or network.strides",
        where("training.preset"));
}

void check_patch(const pipeline::Experiment& experiment, const Where& where) {
  if (!experiment.training.patch || experiment.preprocess.by_spacing() ||
      experiment.preprocess.automatic_spacing)
    return;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::int64_t side = (*experiment.training.patch)[axis],
                       whole = experiment.preprocess.resolution[axis];
    if (side > whole)
      fail(Exit::usage, "{}: training.patch: {} along {} exceed preprocess.resolution ({})",
           where("training.patch"), counted(side, "voxel"), "xyz"[axis], whole);
  }
}

void check_growth(const pipeline::Experiment& experiment, const Where& where) {
  const std::vector<pipeline::GrowthStage>& growth = experiment.training.growth;
  const auto is_finer = [](const auto& before, const auto& after) { return before.coarser > after.coarser; };
  if (std::adjacent_find(growth.begin(), growth.end(), std::not_fn(is_finer)) != growth.end())
    fail(Exit::usage, "{}: training.growth: each stage must be finer than the one before it: {}",
         where("training.growth"), find_key("training.growth")->print(experiment));
}

void check_files(const pipeline::Experiment& experiment, const Where& where) {
  const data::DatasetOptions& data = experiment.data;
  if (data.layout == "files" && data.files.empty())
    fail(Exit::usage,
         "{}: data.files: layout files needs a pattern per channel, e.g. flair: \"{{case}}/Flair*.nii.gz\"",
         where("data.layout"));
  if (data.files.empty()) return;
  if (data.layout != "files" && data.layout != "dicom" && data.layout != "auto")
    fail(Exit::usage, "{}: data.files: patterns need data.layout files or dicom, not {}", where("data.files"),
         data.layout);
  if (data.modalities.empty())
    fail(Exit::usage, "{}: data.files: expected a pattern for a channel, found only truth",
         where("data.files"));
  for (const std::string& modality : data.modalities) {
    if (modality == "truth" || !data.files.count(modality))
      fail(Exit::usage, "{}: data.modalities: '{}' has no pattern in data.files (there are {})",
           where("data.modalities"), modality, join(channel_order(experiment), ", "));
  }
}

void check_table(const pipeline::Experiment& experiment, const Where& where) {
  const pipeline::SplitOptions& split = experiment.split;
  if (!split.table.empty()) return;
  if (!split.stratify.empty() && split.stratify != pipeline::SplitOptions::by_foreground)
    fail(Exit::usage,
         "{}: data.split.stratify: '{}' is a column, but data.split.table is not set. Set it, or use "
         "foreground",
         where("data.split.stratify"), split.stratify);
  const bool by_names = split.patient.empty() || split.patient == pipeline::SplitOptions::known;
  if (!by_names && split.patient.find("{patient}") == split.patient.npos)
    fail(Exit::usage,
         "{}: data.split.patient: '{}' is a column, but data.split.table is not set. Set it, or give a "
         "pattern of case names that contains {{patient}}",
         where("data.split.patient"), split.patient);
}

// Without folds, data.split.fold would have no effect.
void check_fold(const pipeline::Experiment& experiment, const Where& where, const Given& given) {
  const pipeline::SplitOptions& split = experiment.split;
  if (split.folds > 0 && !split.file.empty())
    fail(Exit::usage, "{}: data.split.folds: {} lists the validation cases already. Use one of the two",
         where("data.split.folds"), split.file.string());
  if (split.folds == 1)
    fail(Exit::usage,
         "{}: data.split.folds: expected 0 or at least 2, because with 1 fold no case would train",
         where("data.split.folds"));
  if (split.folds > 0 && split.fold >= split.folds)
    fail(Exit::usage, "{}: data.split.fold: there are {}, counted from 0. There is no fold {}",
         where("data.split.fold"), counted(split.folds, "fold"), split.fold);
  if (!given("data.split.fold") || pipeline::has_folds(split)) return;
  fail(Exit::usage,
       "{}: data.split.fold: fold {} needs several folds, but {}. Set data.split.folds, set data.split.file "
       "to nnU-Net's splits_final.json, or use data.split.seed for another split",
       where("data.split.fold"), split.fold,
       split.file.empty() ? "data.split.file is not set"
                          : format("data.split.file ({}) is not a .json", split.file.string()));
}

void check_labels(const pipeline::Experiment& experiment, const Where& where) {
  const auto& [labels, regions] = std::pair(experiment.data.labels, experiment.data.regions);
  if (labels.empty()) return;
  for (const auto& [name, values] : regions) {
    for (const int value : values) {
      if (std::none_of(labels.begin(), labels.end(),
                       [&](const auto& label) { return label.second == value; }))
        fail(Exit::usage, "{}: data.regions.{}: {} is not a value of data.labels", where("data.regions"),
             name, value);
    }
  }
}

void check_images(const pipeline::Experiment& experiment, const Where& where) {
  const std::string& network = experiment.network.name;
  const bool images = net::takes_images(network), whole = net::classifies_images(network);
  const bool sliced = experiment.preprocess.slices != data::Slices::none;
  const bool classes = net::loss_options(experiment.training.loss).classes;
  if (sliced && (!images || whole))
    fail(Exit::usage,
         "{}: preprocess.slices: slices are 2D images with labels per voxel. Use deeplabv3, not {}",
         where("preprocess.slices"), network);
  if (images && experiment.preprocess.resolution[2] != 1)
    fail(Exit::usage, "{}: preprocess.resolution: {} takes 2D images. Expected N or [x, y], found {}",
         where("preprocess.resolution"), network, counted(experiment.preprocess.resolution[2], "plane"));
  if (experiment.training.patch && (sliced || whole))
    fail(Exit::usage, "{}: training.patch: {} are trained whole. Set it to none", where("training.patch"),
         sliced ? "slices" : "images with one class each");
  if (whole && experiment.training.loss != net::Loss::softmax_cross_entropy)
    fail(Exit::usage,
         "{}: training.loss: {} predicts one class per image. Expected softmax_cross_entropy, found {}",
         where("training.loss"), network, choice_name(experiment.training.loss));
  if (classes && experiment.training.targets != pipeline::Targets::labels)
    fail(Exit::usage, "{}: training.targets: {} needs exclusive labels. Expected labels, found {}",
         where("training.targets"), choice_name(experiment.training.loss),
         choice_name(experiment.training.targets));
}

void check_averaging(const pipeline::Experiment& experiment, const Where& where) {
  const pipeline::TrainingOptions& training = experiment.training;
  if (training.averaging.name == pipeline::Averaging::none) return;
  if (training.averaging.start > training.epochs)
    fail(Exit::usage,
         "{}: training.averaging.start: epoch {} is after the last epoch ({}), so nothing would be averaged",
         where("training.averaging.start"), training.averaging.start, training.epochs);
  if (training.averaging.name == pipeline::Averaging::swa &&
      net::takes_batch_at_once(experiment.network.name))
    fail(Exit::usage,
         "{}: training.averaging.name: swa does not support {}, whose batch norm has running statistics. Use "
         "ema, which averages them too",
         where("training.averaging.name"), experiment.network.name);
}

void check_loss(const pipeline::Experiment& experiment, const Where& where) {
  const pipeline::TrainingOptions& training = experiment.training;
  if (training.batch_dice && net::takes_batch_at_once(experiment.network.name))
    fail(Exit::usage,
         "{}: training.batch_dice: {} has batch norm and computes a Dice per sample. Leave it out",
         where("training.batch_dice"), experiment.network.name);
}

// Limits the displacement so that the deformation does not fold: see data/augment/spatial_map.h.
void check_elastic(const pipeline::Experiment& experiment, const Where& where) {
  const data::AugmentOptions& augment = experiment.training.augment;
  const double most = augment.elastic_grid / 6;
  if (augment.elastic.probability > 0 && augment.elastic.high > most)
    fail(Exit::usage,
         "{}: training.augment.elastic: {} mm would fold space between control points {} mm apart. Use at "
         "most {} mm, or a larger training.augment.elastic_grid",
         where("training.augment.elastic"), number(augment.elastic.high), number(augment.elastic_grid),
         number(most));
}

void check_recipe(const pipeline::Experiment& experiment, const Where& where) {
  const data::PrepareOptions& preprocess = experiment.preprocess;
  const bool images = net::takes_images(experiment.network.name);
  if (experiment.evaluate.average == pipeline::Average::nnunet && images)
    fail(Exit::usage, "{}: evaluate.average: nnunet is for volumes, but {} takes 2D images. Leave it out",
         where("evaluate.average"), experiment.network.name);
  if (preprocess.recipe == data::Recipe::voxswap) {
    if (preprocess.by_spacing() && preprocess.spacing[2] == 0)
      fail(Exit::usage, "{}: preprocess.spacing: own is for the recipe nnunet. Give z in mm",
           where("preprocess.spacing"));
    if (preprocess.cascade)
      fail(Exit::usage, "{}: preprocess.cascade: needs preprocess.recipe: nnunet",
           where("preprocess.cascade"));
    return;
  }
  if (images)
    fail(Exit::usage, "{}: preprocess.recipe: nnunet is for volumes, but {} takes 2D images. Leave it out",
         where("preprocess.recipe"), experiment.network.name);
  if (!preprocess.by_spacing())
    fail(Exit::usage, "{}: preprocess.recipe: nnunet needs preprocess.spacing: [x, y, z]",
         where("preprocess.recipe"));
  if (preprocess.schemes.empty())
    fail(Exit::usage, "{}: preprocess.recipe: nnunet needs preprocess.schemes, one for each channel",
         where("preprocess.recipe"));
  if (!preprocess.bias_correction.empty())
    fail(Exit::usage, "{}: preprocess.bias_correction: the recipe nnunet has none. Leave it out",
         where("preprocess.bias_correction"));
}

void check_tta(const pipeline::Experiment& experiment, const Where& where) {
  std::array<bool, 3> axes = data::mirrored_axes(experiment.training.augment);
  axes[2] = axes[2] && !net::takes_images(experiment.network.name);  // a 2D image has no depth axis to mirror
  if (experiment.evaluate.tta && axes == std::array<bool, 3>{})
    fail(Exit::usage,
         "{}: evaluate.tta: training mirrors nothing, so predictions of mirrored images would be unreliable. "
         "Set training.augment.flip, or leave it out",
         where("evaluate.tta"));
}

}  // namespace

// Default slope as in nnU-Net.
void settle_network(pipeline::Experiment& experiment, const Given& given) {
  if (net::has_levels(experiment.network.name) && !given("network.slope")) experiment.network.slope = 0.01;
}

void settle_recipe(pipeline::Experiment& experiment) {
  if (experiment.preprocess.recipe == data::Recipe::nnunet)
    experiment.preprocess.normalize = data::Normalize::none;
}

void settle_images(pipeline::Experiment& experiment, const Given& given) {
  if (!net::takes_images(experiment.network.name)) return;
  if (net::classifies_images(experiment.network.name) && !given("training.loss"))
    experiment.training.loss = net::Loss::softmax_cross_entropy;
  const auto settle = [](Size3& size) {
    if (size[0] == size[1] && size[1] == size[2]) size[2] = 1;
  };
  settle(experiment.preprocess.resolution);
  if (experiment.training.patch) settle(*experiment.training.patch);
}

void settle_resolution(pipeline::Experiment& experiment, const Given& given) {
  data::PrepareOptions& preprocess = experiment.preprocess;
  if ((preprocess.by_spacing() || preprocess.automatic_spacing) && !given("preprocess.resolution"))
    preprocess.automatic_resolution = true;
}

void check_rules(const pipeline::Experiment& experiment, const Where& where, const Given& given) {
  check_depth(experiment, where);
  check_sides(experiment, where);
  check_spacing(experiment, where, given);
  check_patch(experiment, where);
  check_growth(experiment, where);
  check_files(experiment, where);
  check_table(experiment, where);
  check_fold(experiment, where, given);
  check_images(experiment, where);
  check_labels(experiment, where);
  check_averaging(experiment, where);
  check_loss(experiment, where);
  check_elastic(experiment, where);
  check_tta(experiment, where);
  check_recipe(experiment, where);
}

}  // namespace voxswap::experiments
