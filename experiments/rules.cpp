#include "experiments/rules.h"

#include <algorithm>

#include "base/counts.h"
#include "base/error.h"
#include "experiments/keys.h"
#include "experiments/maps.h"
#include "net/networks/networks.h"
#include "pipeline/cases/patches.h"
#include "pipeline/cases/split.h"

namespace voxswap::experiments {

namespace {

std::string nearest_multiples(std::int64_t side, std::int64_t multiple) {
  const std::int64_t below = side / multiple * multiple, above = below + multiple;
  return below == 0 ? std::to_string(above) : format("{} and {}", below, above);
}

void check_depth(const pipeline::RunOptions& options, const Where& where) {
  const auto [least, most] = net::network_depths(options.network.name);
  if (options.network.depth < least || options.network.depth > most)
    fail(Exit::usage, "{}: network.depth: {} takes {} to {}, found {}", where("network.depth"),
         options.network.name, least, most, options.network.depth);
}

// What the network sees has sides that it can halve at every level: the patch, or the whole volume.
void check_sides(const pipeline::RunOptions& options, const Where& where) {
  const std::string key = options.training.patch ? "training.patch" : "preprocess.resolution";
  const net::Along multiples = net::side_multiples(options.network);
  const data::Size3 size = pipeline::input_size(options);
  const std::string rule =
      format("multiples of {} (network {} of depth {})", net::side_multiples_text(options.network),
             options.network.name, options.network.depth);
  const std::string place = where(key);
  const bool is_cube = size[0] == size[1] && size[1] == size[2];
  if (is_cube && multiples[0] == multiples[1] && multiples[1] == multiples[2]) {
    const std::int64_t multiple = multiples[0];
    if (size[0] % multiple != 0)
      fail(Exit::usage, "{}: {}: {} does not fit: sides must be {}; nearest: {}", place, key, size[0], rule,
           nearest_multiples(size[0], multiple));
    return;
  }
  std::vector<std::string> wrong;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (size[axis] % multiples[axis] != 0)
      wrong.push_back(format("{} is {}, nearest: {}", "xyz"[axis], size[axis],
                             nearest_multiples(size[axis], multiples[axis])));
  }
  if (!wrong.empty()) fail(Exit::usage, "{}: {}: sides must be {}; {}", place, key, rule, join(wrong, "; "));
}

void check_patch(const pipeline::RunOptions& options, const Where& where) {
  if (!options.training.patch) return;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::int64_t side = (*options.training.patch)[axis], whole = options.preprocess.resolution[axis];
    if (side > whole)
      fail(Exit::usage, "{}: training.patch: {} along {} are more than preprocess.resolution has ({})",
           where("training.patch"), counted(side, "voxel"), "xyz"[axis], whole);
  }
}

void check_files(const pipeline::RunOptions& options, const Where& where) {
  const data::DatasetOptions& data = options.data;
  if (data.layout == "files" && data.files.empty())
    fail(Exit::usage,
         "{}: data.files: layout files needs a pattern per channel, e.g. flair: \"{{case}}/Flair*.nii.gz\"",
         where("data.layout"));
  if (data.files.empty()) return;
  if (data.layout != "files" && data.layout != "dicom" && data.layout != "auto")
    fail(Exit::usage, "{}: data.files: patterns belong to data.layout files or dicom, not to {}",
         where("data.files"), data.layout);
  if (data.modalities.empty())
    fail(Exit::usage, "{}: data.files: expected a pattern for a channel, found only truth",
         where("data.files"));
  for (const std::string& modality : data.modalities) {
    if (modality == "truth" || !data.files.count(modality))
      fail(Exit::usage, "{}: data.modalities: '{}' has no pattern in data.files (it has {})",
           where("data.modalities"), modality, join(channel_order(options), ", "));
  }
}

void check_table(const pipeline::RunOptions& options, const Where& where) {
  const pipeline::SplitOptions& split = options.split;
  if (!split.table.empty()) return;
  if (!split.stratify.empty() && split.stratify != pipeline::SplitOptions::by_foreground)
    fail(Exit::usage,
         "{}: data.split.stratify: '{}' is a column, and there is no data.split.table; name one, "
         "or take foreground",
         where("data.split.stratify"), split.stratify);
  if (!split.patient.empty() && split.patient.find("{patient}") == split.patient.npos)
    fail(Exit::usage,
         "{}: data.split.patient: '{}' is a column, and there is no data.split.table; name one, "
         "or give a pattern of the cases' names with {{patient}} in it",
         where("data.split.patient"), split.patient);
}

// Where there are no folds, a fold would be the same as every other.
void check_fold(const pipeline::RunOptions& options, const Where& where, const Given& given) {
  const pipeline::SplitOptions& split = options.split;
  if (split.folds > 0 && !split.file.empty())
    fail(Exit::usage, "{}: data.split.folds: {} names the cases that validate already; take one of the two",
         where("data.split.folds"), split.file.string());
  if (split.folds == 1)
    fail(Exit::usage, "{}: data.split.folds: expected 0, or at least 2: with 1 no case would train",
         where("data.split.folds"));
  if (split.folds > 0 && split.fold >= split.folds)
    fail(Exit::usage, "{}: data.split.fold: there are {}, counted from 0; there is no fold {}",
         where("data.split.fold"), counted(split.folds, "fold"), split.fold);
  if (!given("data.split.fold") || pipeline::has_folds(split)) return;
  fail(Exit::usage,
       "{}: data.split.fold: {} is one of several folds, and {}; say how many in data.split.folds, name "
       "nnU-Net's splits_final.json in data.split.file, or draw other cases with data.split.seed",
       where("data.split.fold"), split.fold,
       split.file.empty() ? "there is no data.split.file"
                          : format("data.split.file ({}) is not a .json", split.file.string()));
}

void check_labels(const pipeline::RunOptions& options, const Where& where) {
  const auto& [labels, regions] = std::pair(options.data.labels, options.data.regions);
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

void check_images(const pipeline::RunOptions& options, const Where& where) {
  const std::string& network = options.network.name;
  const bool images = net::takes_images(network), whole = net::classifies_images(network);
  const bool sliced = options.preprocess.slices != data::Slices::none;
  const bool classes = net::loss_options(options.training.loss).classes;
  if (sliced && (!images || whole))
    fail(Exit::usage,
         "{}: preprocess.slices: slices are images, whose voxels get labels: take deeplabv3, not {}",
         where("preprocess.slices"), network);
  if (images && options.preprocess.resolution[2] != 1)
    fail(Exit::usage, "{}: preprocess.resolution: {} takes images: expected N or [x, y], found {}",
         where("preprocess.resolution"), network, counted(options.preprocess.resolution[2], "plane"));
  if (options.training.patch && (sliced || whole))
    fail(Exit::usage, "{}: training.patch: {} are trained on as a whole; set it to none",
         where("training.patch"), sliced ? "slices" : "images that get one class");
  if (whole && options.training.loss != net::Loss::softmax_cross_entropy)
    fail(Exit::usage,
         "{}: training.loss: {} gives an image one class: expected softmax_cross_entropy, found {}",
         where("training.loss"), network, choice_name(options.training.loss));
  if (classes && options.training.targets != pipeline::Targets::labels)
    fail(Exit::usage, "{}: training.targets: with {} a voxel has one label: expected labels, found {}",
         where("training.targets"), choice_name(options.training.loss),
         choice_name(options.training.targets));
}

void check_averaging(const pipeline::RunOptions& options, const Where& where) {
  const pipeline::TrainingOptions& training = options.training;
  if (training.averaging.name == pipeline::Averaging::none) return;
  if (training.averaging.start > training.epochs)
    fail(Exit::usage,
         "{}: training.averaging.start: epoch {} is behind the last ({}): nothing would be averaged",
         where("training.averaging.start"), training.averaging.start, training.epochs);
  if (training.averaging.name == pipeline::Averaging::swa && net::takes_batch_at_once(options.network.name))
    fail(Exit::usage,
         "{}: training.averaging.name: {} has batch norm, whose running statistics belong to no mean of "
         "weights (swa); take ema, which averages them along",
         where("training.averaging.name"), options.network.name);
}

void check_loss(const pipeline::RunOptions& options, const Where& where) {
  const pipeline::TrainingOptions& training = options.training;
  if (training.batch_dice && net::takes_batch_at_once(options.network.name))
    fail(Exit::usage,
         "{}: training.batch_dice: {} takes the samples of a batch at once, and its Dice of each; leave it "
         "out",
         where("training.batch_dice"), options.network.name);
}

// More would have to be cut off so that the deformation does not fold: see data/augment/spatial_map.h.
void check_elastic(const pipeline::RunOptions& options, const Where& where) {
  const data::AugmentOptions& augment = options.training.augment;
  const double most = augment.elastic_grid / 6;
  if (augment.elastic.probability > 0 && augment.elastic.high > most)
    fail(Exit::usage,
         "{}: training.augment.elastic: {} mm would fold between control points {} mm apart; at most {} mm, "
         "or a larger training.augment.elastic_grid",
         where("training.augment.elastic"), number(augment.elastic.high), number(augment.elastic_grid),
         number(most));
}

}  // namespace

// nnU-Net's slope, where no other is asked for.
void settle_network(pipeline::RunOptions& options, const Given& given) {
  if (net::has_levels(options.network.name) && !given("network.slope")) options.network.slope = 0.01;
}

void settle_images(pipeline::RunOptions& options, const Given& given) {
  if (!net::takes_images(options.network.name)) return;
  if (net::classifies_images(options.network.name) && !given("training.loss"))
    options.training.loss = net::Loss::softmax_cross_entropy;
  const auto settle = [](data::Size3& size) {
    if (size[0] == size[1] && size[1] == size[2]) size[2] = 1;
  };
  settle(options.preprocess.resolution);
  if (options.training.patch) settle(*options.training.patch);
}

void check_rules(const pipeline::RunOptions& options, const Where& where, const Given& given) {
  check_depth(options, where);
  check_sides(options, where);
  check_patch(options, where);
  check_files(options, where);
  check_table(options, where);
  check_fold(options, where, given);
  check_images(options, where);
  check_labels(options, where);
  check_averaging(options, where);
  check_loss(options, where);
  check_elastic(options, where);
}

}  // namespace voxswap::experiments
