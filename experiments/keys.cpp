#include "experiments/keys.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "data/layouts/open_dataset.h"
#include "experiments/augment_keys.h"
#include "experiments/kinds.h"
#include "experiments/level_keys.h"
#include "experiments/loss_keys.h"
#include "experiments/maps.h"
#include "experiments/memory_keys.h"
#include "experiments/special.h"
#include "experiments/sweep_words.h"
#include "net/networks/networks.h"

// Where a value lies in the options, for reading and for printing.
#define AT(member)       \
  [](auto& o) -> auto& { \
    return o.member;     \
  }

namespace voxswap::experiments {

namespace {

using namespace kinds;

// --- Kinds that only one key has

// A name becomes a folder: nothing in it may mean something to a shell or a file system.
Key experiment_name() {
  const auto read = [](const Yaml& value, pipeline::RunOptions& o) {
    const std::string name = read_text(value, "name");
    const bool safe = std::all_of(name.begin(), name.end(), [](unsigned char c) {
      return c < 0x80 && (std::isalnum(c) || c == '_' || c == '-' || c == '.' || c == '+');
    });
    if (!safe || name[0] == '.' || name[0] == '-' || name.size() > 100)
      fail(Exit::usage,
           "{}: name: '{}' is no safe file name: use up to 100 letters, digits, _ - + and ., the first a "
           "letter, digit or _",
           value.where, name);
    o.name = name;
  };
  return {"name",
          "a file name",
          "names the run; without it, the experiment file's name",
          read,
          [](const pipeline::RunOptions& o) { return yaml_scalar(o.name); },
          Key::Shape::text,
          {{"type", {"string", "number"}}, {"pattern", "^[A-Za-z0-9_+][A-Za-z0-9_.+-]{0,99}$"}}};
}

template <class Field>
Key place(const std::string& path, const std::string& meaning, Field field) {
  return {path,
          "a path",
          meaning,
          [=](const Yaml& value, pipeline::RunOptions& o) { field(o) = read_text(value, path); },
          [=](const pipeline::RunOptions& o) { return yaml_scalar(field(o).string()); },
          Key::Shape::text,
          allowed::text()};
}

template <class Field>
Key place_or_none(const std::string& path, const std::string& meaning, Field field) {
  const auto read = [=](const Yaml& value, pipeline::RunOptions& o) {
    const std::string text = read_text(value, path);
    field(o) = text == "none" ? "" : text;
  };
  return {path,
          "none | a path",
          meaning,
          read,
          [=](const pipeline::RunOptions& o) {
            return field(o).empty() ? "none" : yaml_scalar(field(o).string());
          },
          Key::Shape::text,
          allowed::text()};
}

template <class Field>
Key text_or_none(const std::string& path, const std::string& takes, const std::string& meaning, Field field) {
  const auto read = [=](const Yaml& value, pipeline::RunOptions& o) {
    const std::string text = read_text(value, path);
    field(o) = text == "none" ? "" : text;
  };
  return {path,
          "none | " + takes,
          meaning,
          read,
          [=](const pipeline::RunOptions& o) { return field(o).empty() ? "none" : yaml_scalar(field(o)); },
          Key::Shape::text,
          allowed::text()};
}

// A viewer of no bytes is none.
Key viewer() {
  const std::string path = "output.viewer", expected = "none or a size above 0B, such as 32MiB";
  const auto read = [=](const Yaml& value, pipeline::RunOptions& o) {
    o.viewer_bytes = is_word(value, "none") ? 0 : read_size(value, path, expected);
  };
  return {path,
          "none | a size (32MiB)",
          "the most that the volumes to look into may take of report.html; none: no viewer",
          read,
          [](const pipeline::RunOptions& o) {
            return o.viewer_bytes == 0 ? std::string("none") : size_text(o.viewer_bytes);
          },
          Key::Shape::value,
          allowed::any_of({allowed::choice({"none"}), allowed::size()})};
}

Choices layouts() {
  std::vector<std::string> names = data::layout_names();
  if (std::find(names.begin(), names.end(), "auto") == names.end()) names.insert(names.begin(), "auto");
  return names;
}

// What `voxswap sweep` reads itself (experiments/sweep.cpp) before it makes the experiment of a cell; any
// other command would leave it out without a word.
Key combinations() {
  const auto read = [](const Yaml& value, pipeline::RunOptions&) {
    if (value.kind == Yaml::Kind::nothing || (value.kind == Yaml::Kind::map && value.entries.empty())) return;
    if (value.kind != Yaml::Kind::map)
      wrong(value, "sweep", "a map such as {preprocess.resolution: [112, 144]}");
    std::vector<std::string> swept;
    for (const auto& [path, entry] : value.entries)
      if (is_swept(path, entry)) swept.push_back(path);
    fail(Exit::usage,
         "{}: sweep: this file is a sweep{}; `voxswap sweep FILE` runs every combination, and sweep={{}} "
         "here leaves it out",
         value.where, swept.empty() ? "" : " over " + join(swept, ", "));
  };
  return {"sweep",
          "a map",
          "keys with the values that `voxswap sweep` combines",
          read,
          [](const pipeline::RunOptions&) { return std::string("{}"); },
          Key::Shape::map};
}

// --- The table

using pipeline::Decides;

void add(std::vector<Key>& table, Decides decides, Key key) {
  key.decides = decides;
  table.push_back(std::move(key));
}

void add_data(std::vector<Key>& table) {
  add(table, Decides::name, experiment_name());
  add(table, Decides::source, place("data.root", "folder of the data set", AT(data.root)));
  add(table, Decides::data,
      choice("data.layout", "how the data set is laid out on disk", AT(data.layout), layouts()));
  add(table, Decides::data, modalities("data.modalities"));
  add(table, Decides::data, file_patterns("data.files"));
  add(table, Decides::data, labels("data.labels"));
  add(table, Decides::data, regions("data.regions"));
  add(table, Decides::data, ignore_label());
  add(table, Decides::data,
      on_off("data.align", "resample channels that lie on grids of their own onto the first one's",
             AT(data.align)));
  add(table, Decides::data,
      on_off("data.missing_modalities", "cases may lack files of some channels, which are 0 then",
             AT(data.missing_modalities)));
  add(table, Decides::source,
      place_or_none(
          "data.annotated",
          "a CSV (case,labels) of cases whose truth tells of these labels only, with ; between them",
          AT(data.annotated)));
  add(table, Decides::data,
      real("data.split.validation", "share of the cases kept for validation", AT(split.validation),
           {0, 1, true, true}));
  add(table, Decides::data, seed("data.split.seed", "draws which cases those are", AT(split.seed)));
  add(table, Decides::source,
      place_or_none("data.split.file",
                    "a split.csv (columns case,part) or nnU-Net's splits_final.json to use instead",
                    AT(split.file)));
  add(table, Decides::data,
      whole("data.split.folds", "deals the cases into this many folds, of which one validates; 0: none",
            AT(split.folds), {0, 1e6}));
  add(table, Decides::fold,
      whole("data.split.fold", "which fold validates, counted from 0: of those, or of splits_final.json",
            AT(split.fold), {0, 1e6}));
  add(table, Decides::source,
      place_or_none("data.split.table", "a CSV with a column `case` and others for stratify and patient",
                    AT(split.table)));
  add(table, Decides::data,
      text_or_none("data.split.stratify", "foreground | a column",
                   "spreads its values evenly over parts and folds; foreground: sizes of what is labelled",
                   AT(split.stratify)));
  add(table, Decides::data,
      text_or_none("data.split.patient", "a column | a pattern",
                   "cases of a patient never train and validate both; a pattern: \"{patient}_*\", of names",
                   AT(split.patient)));
  add(table, Decides::nothing, place_or_none("data.cache", "folder for prepared volumes", AT(cache)));
}

void add_preprocess(std::vector<Key>& table) {
  add(table, Decides::resolution, resolution());
  add(table, Decides::data,
      choice("preprocess.slices", "axial: volumes are stacks of images, for a network of images",
             AT(preprocess.slices)));
  add(table, Decides::data, choice("preprocess.crop", "what is kept of an image", AT(preprocess.crop)));
  add(table, Decides::data, bias_correction());
  add(table, Decides::data, clip());
  add(table, Decides::data,
      choice(
          "preprocess.normalize",
          "mean 0 and deviation 1: of the training cases' foregrounds, of each image's foreground, that with "
          "the background at 0, of the whole image; or not",
          AT(preprocess.normalize)));
  add(table, Decides::data, background());
}

void add_network(std::vector<Key>& table) {
  add(table, Decides::model,
      choice("network.name", "U-Nets, a deep residual network without levels, and networks of images",
             AT(network.name), net::network_names()));
  add(table, Decides::model,
      whole(
          "network.base_filters",
          "channels at full resolution; each level of a U-Net has twice as many; networks of images: behind "
          "the first convolution, 64 as published",
          AT(network.base_filters), {1, 1024}));
  add(table, Decides::model,
      whole("network.max_filters", "plain_unet, resenc_unet: the most channels that a level has",
            AT(network.max_filters), {1, 1024}));
  add(table, Decides::model,
      whole("network.depth",
            "levels, 2 to 8; resnet3d and resnet: residual blocks; nothing to other networks of images",
            AT(network.depth), {1, 2000}));
  add(table, Decides::model,
      real("network.dropout", "isensee2017, deeplabv3: probability that a channel is dropped in training",
           AT(network.dropout), {0, 1, false, true}));
  add(table, Decides::model,
      real("network.slope", "of the leaky ReLU; plain_unet, resenc_unet: 0.01 where it is not given",
           AT(network.slope), {0, 1}));
  add(table, Decides::model,
      choice("network.heads", "isensee2017: normalized: convolution, norm, leaky ReLU", AT(network.heads)));
  add(table, Decides::model,
      choice("network.upsampling",
             "unet3d: transposed convolutions, or nearest neighbours followed by convolutions",
             AT(network.upsampling)));
  add(table, Decides::model,
      choice("network.output_stride", "deeplabv3: by how much its feature maps are smaller than the image",
             AT(network.output_stride)));
  for (Key& key : level_keys()) add(table, Decides::model, std::move(key));
  add(table, Decides::source,
      place_or_none("network.init",
                    "a run, or a .safetensors such as torchvision's, to begin with: what fits by name and "
                    "shape is taken, the rest is random",
                    AT(training.init)));
}

void add_training(std::vector<Key>& table) {
  add(table, Decides::nothing,
      choice("training.preset",
             "nnunet: network and training as nnU-Net has them, where the experiment says nothing else",
             AT(training.preset)));
  add(table, Decides::epochs, whole("training.epochs", "at most this many", AT(training.epochs), {1, 1e9}));
  add(table, Decides::model,
      whole("training.batch_size", "volumes per step", AT(training.batch_size), {1, 4096}));
  add(table, Decides::model, choice("training.optimizer.name", "the optimiser", AT(training.optimizer.name)));
  add(table, Decides::model,
      real("training.optimizer.learning_rate", "at the start", AT(training.optimizer.learning_rate),
           {0, any_size, true}));
  add(table, Decides::model,
      choice("training.optimizer.rate_scaling",
             "of the learning rate: not at all, or with (the root of) batch_size / reference_batch",
             AT(training.rate.scaling)));
  add(table, Decides::model,
      whole("training.optimizer.reference_batch", "rate_scaling: the batch_size that learning_rate is for",
            AT(training.rate.reference_batch), {1, 4096}));
  add(table, Decides::model,
      real("training.optimizer.weight_decay", "pulls weights towards 0", AT(training.optimizer.weight_decay),
           {0, any_size}));
  add(table, Decides::model,
      real("training.optimizer.momentum", "sgd: Nesterov's, what a step keeps of the one before",
           AT(training.optimizer.momentum), {0, 1}));
  add(table, Decides::model,
      real("training.optimizer.clip",
           "the largest norm that the gradients of all parameters together may have; 0: any",
           AT(training.optimizer.clip), {0, any_size}));
  add(table, Decides::model,
      choice("training.schedule.name", "of the learning rate", AT(training.schedule.name)));
  add(table, Decides::model,
      real("training.schedule.warm_up",
           "epochs in which the rate rises evenly, step by step, to what the schedule has; 0: none",
           AT(training.schedule.warm_up), {0, 1e9}));
  add(table, Decides::model,
      real("training.schedule.factor", "plateau: what the rate is multiplied with",
           AT(training.schedule.factor), {0, 1, true, true}));
  add(table, Decides::model,
      whole("training.schedule.patience", "plateau: epochs without improvement before that",
            AT(training.schedule.patience), {0, 1e9}));
  add(table, Decides::model,
      choice("training.averaging.name",
             "a mean of the weights that predicts in their place: ema: moving, step by step (Polyak & "
             "Juditsky 1992); swa: of the epochs' ends (Izmailov et al. 2018)",
             AT(training.averaging.name)));
  add(table, Decides::model,
      real("training.averaging.decay", "ema: what a step keeps of the mean before it; less at the beginning",
           AT(training.averaging.decay), {0, 1}));
  add(table, Decides::model,
      whole("training.averaging.start",
            "the epoch with which averaging begins; 0: ema the first, swa that of the last quarter",
            AT(training.averaging.start), {0, 1e9}));
  add(table, Decides::stop,
      whole("training.early_stop", "stop after this many epochs without improvement; 0: never",
            AT(training.early_stop), {0, 1e9}));
  add(table, Decides::model, choice("training.loss", "the loss", AT(training.loss)));
  for (Key& key : loss_keys()) add(table, Decides::model, std::move(key));
  add(table, Decides::model, deep_supervision());
  add(table, Decides::model, frozen());
  add(table, Decides::model,
      choice("training.targets", "output channels: exclusive labels, nested regions, or both",
             AT(training.targets)));
  add(table, Decides::model,
      choice("training.precision", "of activations; auto: the fastest that is safe on the device",
             AT(training.precision)));
  for (Key& key : augment_keys()) add(table, Decides::model, std::move(key));
  add(table, Decides::model, patch());
  add(table, Decides::model,
      real("training.foreground", "of patches, the share that is drawn around a voxel of a label",
           AT(training.foreground), {0, 1}));
  add(table, Decides::nothing,
      whole("training.loader_threads",
            "that get samples ready ahead of training; 0: as many as the device leaves room for",
            AT(training.loader_threads), {0, 1024}));
  add(table, Decides::chance,
      seed("training.seed", "of weights, dropout, order and augmentation", AT(training.seed)));
  add(table, Decides::model,
      on_off("training.deterministic",
             "the same seed gives the same bits, always so on a CPU; false: a GPU may be faster",
             AT(training.deterministic)));
  add(table, Decides::chance,
      whole("training.repeats", "models trained with seeds seed, seed+1, … on the same split",
            AT(training.repeats), {1, 10000}));
  add(table, Decides::nothing,
      real("training.checkpoint_minutes", "at most this long between checkpoints",
           AT(training.checkpoint_minutes), {0, any_size, true}));
  add(table, Decides::nothing, logs());
}

void add_rest(std::vector<Key>& table) {
  add(table, Decides::shown, evaluated_at());
  add(table, Decides::scores,
      choice("evaluate.empty", "the rule for regions that a case does not have", AT(evaluate.empty),
             {"brats", "nnunet"}));
  add(table, Decides::shown, scored_metrics());
  add(table, Decides::scores,
      real("evaluate.surface_tolerance", "of surface_dice, mm", AT(evaluate.surface_tolerance),
           {0, any_size}));
  add(table, Decides::scores,
      whole("evaluate.lesions.dilation", "lesion_wise: voxels by which the truth is grown",
            AT(evaluate.lesions.dilation), {0, 100}));
  add(table, Decides::scores,
      real("evaluate.lesions.volume", "lesion_wise: lesions up to this many mm^3 are left out",
           AT(evaluate.lesions.volume), {0, any_size}));
  add(table, Decides::shown,
      choice("evaluate.postprocessing",
             "auto: find which post-processing helps on the validation cases, which predict then does",
             AT(evaluate.postprocessing)));
  add(table, Decides::nothing, combinations());
  add(table, Decides::nothing,
      place("output.dir", "where the run is written; {name} is the experiment's name", AT(output)));
  add(table, Decides::nothing, viewer());
}

}  // namespace

const std::vector<Key>& keys() {
  static const std::vector<Key> table = [] {
    std::vector<Key> rows;
    add_data(rows);
    add_preprocess(rows);
    add_network(rows);
    add_training(rows);
    for (Key& key : memory_keys()) rows.push_back(std::move(key));  // which say themselves what they decide
    add_rest(rows);
    return rows;
  }();
  return table;
}

pipeline::RunOptions default_options() {
  pipeline::RunOptions options;
  options.name.clear();
  options.data.root = "data/phantom";
  options.cache = "runs/.cache";
  return options;
}

}  // namespace voxswap::experiments
