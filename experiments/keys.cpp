#include "experiments/keys.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "data/layouts/open_dataset.h"
#include "experiments/map_keys.h"
#include "experiments/sweep_words.h"
#include "experiments/value_types.h"
#include "net/networks/networks.h"

// Accessor of a member of the experiment, for reading and printing.
#define AT(member)       \
  [](auto& o) -> auto& { \
    return o.member;     \
  }

namespace voxswap::experiments {

namespace {

using namespace value_types;

// --- Kinds of single keys

// The name becomes a folder, so it must be safe for shells and file systems.
Key experiment_name() {
  const auto read = [](const Yaml& value, pipeline::Experiment& o) {
    const std::string name = read_text(value, "name");
    const bool safe = std::all_of(name.begin(), name.end(), [](unsigned char c) {
      return c < 0x80 && (std::isalnum(c) || c == '_' || c == '-' || c == '.' || c == '+');
    });
    if (!safe || name[0] == '.' || name[0] == '-' || name.size() > 100)
      fail(Exit::usage,
           "{}: name: '{}' is not a safe file name. Use up to 100 letters, digits, _ - + and ., starting "
           "with a letter, digit or _",
           value.where, name);
    o.name = name;
  };
  return {"name",
          "a file name",
          "Name of the run (default: the experiment file's name)",
          read,
          [](const pipeline::Experiment& o) { return yaml_scalar(o.name); },
          Key::Shape::text,
          {{"type", {"string", "number"}}, {"pattern", "^[A-Za-z0-9_+][A-Za-z0-9_.+-]{0,99}$"}}};
}

template <class Field>
Key place(const std::string& path, const std::string& meaning, Field field) {
  return {path,
          "a path",
          meaning,
          [=](const Yaml& value, pipeline::Experiment& o) { field(o) = read_text(value, path); },
          [=](const pipeline::Experiment& o) { return yaml_scalar(field(o).string()); },
          Key::Shape::text,
          allowed::text()};
}

template <class Field>
Key place_or_none(const std::string& path, const std::string& meaning, Field field) {
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    const std::string text = read_text(value, path);
    field(o) = text == "none" ? "" : text;
  };
  return {path,
          "none | a path",
          meaning,
          read,
          [=](const pipeline::Experiment& o) {
            return field(o).empty() ? "none" : yaml_scalar(field(o).string());
          },
          Key::Shape::text,
          allowed::text()};
}

template <class Field>
Key text_or_none(const std::string& path, const std::string& takes, const std::string& meaning, Field field) {
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    const std::string text = read_text(value, path);
    field(o) = text == "none" ? "" : text;
  };
  return {path,
          "none | " + takes,
          meaning,
          read,
          [=](const pipeline::Experiment& o) { return field(o).empty() ? "none" : yaml_scalar(field(o)); },
          Key::Shape::text,
          allowed::text()};
}

// A viewer size of 0 bytes means no viewer.
Key viewer() {
  const std::string path = "output.viewer", expected = "none or a size above 0B, such as 32MiB";
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    o.viewer_bytes = is_word(value, "none") ? 0 : read_size(value, path, expected);
  };
  return {path,
          "none | a size (32MiB)",
          "Largest size of the image viewer in report.html (none: no viewer)",
          read,
          [](const pipeline::Experiment& o) {
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

// `voxswap sweep` reads this key itself (experiments/sweep.cpp) before it makes the experiments of cells;
// other commands reject it, since they would ignore it.
Key combinations() {
  const auto read = [](const Yaml& value, pipeline::Experiment&) {
    if (value.kind == Yaml::Kind::nothing || (value.kind == Yaml::Kind::map && value.entries.empty())) return;
    if (value.kind != Yaml::Kind::map)
      wrong(value, "sweep", "a map such as {preprocess.resolution: [112, 144]}");
    std::vector<std::string> swept;
    for (const auto& [path, entry] : value.entries)
      if (is_swept(path, entry)) swept.push_back(path);
    fail(Exit::usage,
         "{}: sweep: this file is a sweep{}. Run every combination with `voxswap sweep FILE`, or add "
         "sweep={{}} to run it without",
         value.where, swept.empty() ? "" : " over " + join(swept, ", "));
  };
  return {"sweep",
          "a map",
          "Keys with lists of values that voxswap sweep combines",
          read,
          [](const pipeline::Experiment&) { return std::string("{}"); },
          Key::Shape::map};
}

// --- The table

using pipeline::Decides;

void add(std::vector<Key>& table, Decides decides, std::vector<Key> keys) {
  for (Key& key : keys) {
    key.decides = decides;
    table.push_back(std::move(key));
  }
}

void add_data(std::vector<Key>& table) {
  add(table, Decides::name, {experiment_name()});
  add(table, Decides::source, {place("data.root", "Folder of the data set", AT(data.root))});
  add(table, Decides::data,
      {choice("data.layout", "Layout of the data set on disk", AT(data.layout), layouts()),
       modalities("data.modalities"), file_patterns("data.files"), labels("data.labels"),
       regions("data.regions"), ignore_label(),
       on_off("data.align", "Resampling of channels with different grids onto the grid of the first channel",
              AT(data.align)),
       on_off("data.missing_modalities", "Accept cases with missing channels, which are filled with 0",
              AT(data.missing_modalities))});
  add(table, Decides::source,
      {place_or_none(
          "data.annotated",
          "CSV with columns case,labels: which labels were annotated in each case (separated by ;)",
          AT(data.annotated))});
  add(table, Decides::data,
      {real("data.split.validation", "Fraction of the cases used for validation", AT(split.validation),
            {0, 1, true, true}),
       seed("data.split.seed", "Seed of the random split", AT(split.seed))});
  add(table, Decides::source,
      {place_or_none("data.split.file",
                     "Split file: CSV with columns case,part, or nnU-Net's splits_final.json",
                     AT(split.file))});
  add(table, Decides::data,
      {whole("data.split.folds", "Number of folds for cross-validation (0: a single split)", AT(split.folds),
             {0, 1e6})});
  add(table, Decides::fold,
      {whole("data.split.fold", "Validation fold, counted from 0", AT(split.fold), {0, 1e6})});
  add(table, Decides::source,
      {place_or_none("data.split.table", "CSV with column case and the columns named by stratify and patient",
                     AT(split.table))});
  add(table, Decides::data,
      {text_or_none("data.split.stratify", "foreground | a column",
                    "Column by which folds are balanced, or foreground: size of the labelled foreground",
                    AT(split.stratify)),
       text_or_none(
           "data.split.patient", "auto | a column | a pattern",
           "Grouping by patient: BIDS, BraTS, DICOM's PatientID, a column or a pattern \"{patient}_*\"",
           AT(split.patient))});
  add(table, Decides::nothing,
      {place_or_none("data.cache", "Folder for prepared volumes", AT(cache)),
       size_or_none("data.memory",
                    "Host memory for prepared volumes (auto: what the budgets leave, at least 1 GiB)",
                    AT(cases_bytes))});
}

void add_preprocess(std::vector<Key>& table) {
  add(table, Decides::resolution, {resolution()});
  add(table, Decides::data,
      {spacing(),
       choice("preprocess.slices", "Train a 2D network on the axial slices of volumes",
              AT(preprocess.slices)),
       choice("preprocess.crop", "Part of each image to keep", AT(preprocess.crop)), bias_correction(),
       clip(),
       choice("preprocess.normalize", "Normalization by mean and SD of training set, foreground or image",
              AT(preprocess.normalize)),
       background(),
       choice("preprocess.recipe", "Steps of preprocessing (nnunet: those of nnU-Net 2)",
              AT(preprocess.recipe))});
  add(table, Decides::data, recipe_keys());
}

void add_network(std::vector<Key>& table) {
  add(table, Decides::model,
      {choice("network.name", "Network architecture", AT(network.name), net::network_names()),
       whole("network.base_filters", "Channels at full resolution, doubled at each level of a U-Net",
             AT(network.base_filters), {1, 1024}),
       whole("network.max_filters", "Largest number of channels (plain_unet, resenc_unet)",
             AT(network.max_filters), {1, 1024}),
       whole("network.depth", "Levels of a U-Net, or residual blocks of resnet and resnet3d",
             AT(network.depth), {1, 2000}),
       real("network.dropout", "Probability of dropping a channel in training (isensee2017, deeplabv3)",
            AT(network.dropout), {0, 1, false, true}),
       real("network.slope", "Negative slope of the leaky ReLU (plain_unet and resenc_unet default to 0.01)",
            AT(network.slope), {0, 1}),
       choice("network.heads",
              "Segmentation heads of isensee2017 (normalized: convolution, norm, leaky ReLU)",
              AT(network.heads)),
       choice("network.upsampling", "Upsampling of unet3d", AT(network.upsampling)),
       choice("network.output_stride", "Output stride: ratio of image size to feature map size (deeplabv3)",
              AT(network.output_stride))});
  add(table, Decides::model, level_keys());
  add(table, Decides::source,
      {place_or_none("network.init", "Pretrained weights: a run or a .safetensors file", AT(training.init))});
}

void add_training(std::vector<Key>& table) {
  add(table, Decides::nothing,
      {choice("training.preset", "Preset for network and training (nnunet: nnU-Net's settings)",
              AT(training.preset))});
  add(table, Decides::epochs,
      {whole("training.epochs", "Largest number of epochs", AT(training.epochs), {1, 1e9})});
  add(table, Decides::model,
      {whole("training.batch_size", "Samples per step", AT(training.batch_size), {1, 4096})});
}

void add_optimizer(std::vector<Key>& table) {
  add(table, Decides::model,
      {choice("training.optimizer.name", "Optimizer", AT(training.optimizer.name)),
       real("training.optimizer.learning_rate", "Initial learning rate", AT(training.optimizer.learning_rate),
            {0, any_size, true}),
       choice("training.optimizer.rate_scaling",
              "Learning rate scaling with batch_size / reference_batch or its square root",
              AT(training.rate.scaling)),
       whole("training.optimizer.reference_batch", "Batch size for which learning_rate was chosen",
             AT(training.rate.reference_batch), {1, 4096}),
       real("training.optimizer.weight_decay", "Weight decay (adam: decoupled, sgd: added to the gradient)",
            AT(training.optimizer.weight_decay), {0, any_size}),
       real("training.optimizer.momentum", "Nesterov momentum (SGD only)", AT(training.optimizer.momentum),
            {0, 1}),
       real("training.optimizer.clip", "Gradient clipping: largest norm over all parameters (0: off)",
            AT(training.optimizer.clip), {0, any_size}),
       choice("training.schedule.name", "Learning rate schedule", AT(training.schedule.name)),
       real("training.schedule.warm_up", "Epochs of linear warm-up", AT(training.schedule.warm_up), {0, 1e9}),
       real("training.schedule.factor", "Learning rate decay factor (plateau)", AT(training.schedule.factor),
            {0, 1, true, true}),
       whole("training.schedule.patience",
             "Patience: epochs without improvement before the rate is lowered (plateau)",
             AT(training.schedule.patience), {0, 1e9}),
       choice("training.averaging.name",
              "Weight averaging: exponential moving average (ema) or stochastic (swa)",
              AT(training.averaging.name)),
       real("training.averaging.decay", "Decay of the moving average (ema)", AT(training.averaging.decay),
            {0, 1}),
       whole("training.averaging.start",
             "First epoch that is averaged (0: the first for ema, the last quarter for swa)",
             AT(training.averaging.start), {0, 1e9})});
  add(table, Decides::stop,
      {whole("training.early_stop", "Early stopping after this many epochs without improvement (0: never)",
             AT(training.early_stop), {0, 1e9})});
}

void add_loss_and_samples(std::vector<Key>& table) {
  add(table, Decides::model, {choice("training.loss", "Loss function", AT(training.loss))});
  add(table, Decides::model, loss_keys());
  add(table, Decides::model,
      {deep_supervision(), frozen(),
       choice("training.targets", "Output channels: labels, nested regions, or both", AT(training.targets)),
       choice("training.precision", "Precision of activations (auto: the fastest that is safe on the device)",
              AT(training.precision))});
  add(table, Decides::model, augment_keys());
  add(table, Decides::model,
      {growth(), patch(),
       real("training.foreground", "Fraction of patches centred on a labelled voxel", AT(training.foreground),
            {0, 1})});
  add(table, Decides::nothing,
      {whole("training.loader_threads",
             "Number of data loading threads (0: as many cores as the device leaves free)",
             AT(training.loader_threads), {0, 1024})});
  add(table, Decides::chance,
      {seed("training.seed", "Seed of weights, dropout, order and augmentation", AT(training.seed))});
  add(table, Decides::model,
      {on_off("training.deterministic",
              "Bit-reproducible training (CPUs always are, a GPU may be faster without)",
              AT(training.deterministic))});
  add(table, Decides::chance,
      {whole("training.repeats", "Number of models to train, with seeds seed, seed+1, …",
             AT(training.repeats), {1, 10000})});
  add(table, Decides::nothing,
      {real("training.checkpoint_minutes", "Longest time between checkpoints in minutes",
            AT(training.checkpoint_minutes), {0, any_size, true}),
       logs()});
}

void add_rest(std::vector<Key>& table) {
  add(table, Decides::shown, {evaluated_at()});
  add(table, Decides::scores,
      {choice("evaluate.empty", "Scoring rule for regions that are absent from a case (BraTS's or nnU-Net's)",
              AT(evaluate.empty), {"brats", "nnunet"})});
  add(table, Decides::shown, {scored_metrics()});
  add(table, Decides::scores,
      {real("evaluate.surface_tolerance", "Tolerance of surface_dice and boundary_iou in mm",
            AT(evaluate.surface_tolerance), {0, any_size}),
       whole("evaluate.lesions.dilation", "Dilation of true lesions in voxels (lesion_wise)",
             AT(evaluate.lesions.dilation), {0, 100}),
       real("evaluate.lesions.volume", "Volume up to which lesions are ignored, in mm^3 (lesion_wise)",
            AT(evaluate.lesions.volume), {0, any_size}),
       on_off("evaluate.tta", "Average predictions over mirrored inputs (up to 8 times slower)",
              AT(evaluate.tta)),
       on_off("evaluate.ensemble", "Average predictions over the repeats instead of scoring each repeat",
              AT(evaluate.ensemble)),
       choice("evaluate.average",
              "Values averaged over windows and networks (nnunet: logits, rounded as in nnU-Net 2)",
              AT(evaluate.average))});
  add(table, Decides::shown,
      {choice("evaluate.postprocessing", "Post-processing for predict (auto: chosen on the validation cases)",
              AT(evaluate.postprocessing))});
  add(table, Decides::nothing,
      {combinations(), place("output.dir", "Folder of the run ({name}: the experiment's name)", AT(output)),
       viewer()});
}

}  // namespace

const std::vector<Key>& keys() {
  static const std::vector<Key> table = [] {
    std::vector<Key> rows;
    add_data(rows);
    add_preprocess(rows);
    add_network(rows);
    add_training(rows);
    add_optimizer(rows);
    add_loss_and_samples(rows);
    for (Key& key : memory_keys()) rows.push_back(std::move(key));  // these set `decides` themselves
    add_rest(rows);
    return rows;
  }();
  return table;
}

pipeline::Experiment default_experiment() {
  pipeline::Experiment experiment;
  experiment.name.clear();
  experiment.data.root = "data/phantom";
  experiment.cache = "runs/.cache";
  return experiment;
}

const Key* find_key(const std::string& path) {
  const auto found =
      std::find_if(keys().begin(), keys().end(), [&](const Key& key) { return key.path == path; });
  return found == keys().end() ? nullptr : &*found;
}

}  // namespace voxswap::experiments

#undef AT
