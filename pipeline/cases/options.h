// All options of a run with their defaults: the experiment file's sections as plain structs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/choice.h"
#include "base/file.h"
#include "data/augment/augment.h"
#include "data/layouts/dataset.h"
#include "data/prepare/prepare.h"
#include "metrics/metrics.h"
#include "net/collective/ranks.h"
#include "net/networks/network.h"
#include "net/steps/pieces.h"
#include "net/steps/step.h"
#include "pipeline/report/setting.h"
#include "swap/planners/planner.h"
#include "voxswap/run.h"

namespace voxswap::pipeline {

struct SplitOptions {
  double validation = 0.2;
  std::uint64_t seed = 1;
  fs::path file;           // a split.csv (columns case,part) or nnU-Net's splits_final.json; empty: drawn
  std::int64_t fold = 0;   // that validates: of `folds`, or of splits_final.json
  std::int64_t folds = 0;  // into which the cases are dealt; 0: `validation` of them are drawn
  fs::path table{};        // a CSV with a column `case` and what is known of it; empty: none
  // A column of the table whose values are spread evenly, or by_foreground; empty: none.
  std::string stratify{};
  static constexpr const char* by_foreground = "foreground";
  // A column of the table, or a pattern of the case's name with {patient}: cases of one lie on one side.
  std::string patient{};
};

enum class Schedule { plateau, poly, cosine, constant };
constexpr std::array<std::string_view, 4> names_of(Schedule) {
  return {"plateau", "poly", "cosine", "constant"};
}

// Channels that the network gives: one per label, of which a voxel has one; one per region, of which it may
// have several; or one for each of both, regions of a single label but once.
enum class Targets { labels, regions, both };
constexpr std::array<std::string_view, 3> names_of(Targets) {
  return {"labels", "regions", "both"};
}

// Of activations. automatic: the fastest that is safe on the device.
enum class Precision { automatic, f32, tf32, bf16, f16 };
constexpr std::array<std::string_view, 5> names_of(Precision) {
  return {"auto", "f32", "tf32", "bf16", "f16"};
}

// How the learning rate grows with the batch.
enum class RateScaling { none, linear, sqrt };
constexpr std::array<std::string_view, 3> names_of(RateScaling) {
  return {"none", "linear", "sqrt"};
}

struct RateOptions {
  RateScaling scaling = RateScaling::none;
  std::int64_t reference_batch = 1;  // the batch that the optimizer's learning rate is meant for
};

struct ScheduleOptions {
  Schedule name = Schedule::plateau;
  double warm_up = 0;          // epochs
  double factor = 0.5;         // plateau
  std::int64_t patience = 10;  // plateau, epochs
};

// A mean of the weights that training goes through (pipeline/train/weight_average.h).
enum class Averaging { none, ema, swa };
constexpr std::array<std::string_view, 3> names_of(Averaging) {
  return {"none", "ema", "swa"};
}

struct AveragingOptions {
  Averaging name = Averaging::none;
  double decay = 0.999;    // ema
  std::int64_t start = 0;  // the epoch with which it begins; 0: ema the first, swa that of the last quarter
};

// What is written of a training while it goes on, besides its tables.
struct LogOptions {
  bool tensorboard = false;  // events in tensorboard/
  bool jsonl = false;        // log.jsonl
};

// A published way to train, whose values the keys have that an experiment does not give.
enum class Preset { none, nnunet };
constexpr std::array<std::string_view, 2> names_of(Preset) {
  return {"none", "nnunet"};
}

// What an output's part of the loss weighs beside the others'.
struct ClassWeights {
  bool automatic = false;                                 // by how many voxels have it
  std::vector<std::pair<std::string, double>> by_name{};  // the others: 1
};

struct TrainingOptions {
  Preset preset = Preset::none;
  std::int64_t epochs = 500;
  std::int64_t batch_size = 1;
  net::OptimizerOptions optimizer;
  RateOptions rate;
  ScheduleOptions schedule;
  AveragingOptions averaging;
  std::int64_t early_stop = 50;  // epochs without improvement of the validation loss; 0: never
  net::Loss loss = net::Loss::weighted_dice;
  double label_smoothing = 0;
  double focal_gamma = 0;
  bool batch_dice = false;
  ClassWeights class_weights;
  std::vector<double> output_weights{};          // which follow from them and the data (loss_settings.h)
  net::Unknown unknown = net::Unknown::nothing;  // what the truths may leave open
  Targets targets = Targets::labels;
  fs::path init;  // a run, or a safetensors file, whose weights it begins with; empty: random ones
  Precision precision = Precision::automatic;
  data::AugmentOptions augment;
  std::optional<data::Size3> patch;  // voxels of the training grid that the network sees at a time; none: all
  double foreground = 1.0 / 3;       // of patches, the share that is drawn around a voxel of a label
  std::int64_t loader_threads = 0;   // that get samples ready ahead of training; 0: as the device leaves room
  std::uint64_t seed = 1;
  bool deterministic = true;  // always so on a CPU; false: a GPU chooses what is fastest
  std::int64_t repeats = 1;
  LogOptions log;
  double checkpoint_minutes = 10;  // besides one at the end of every epoch that improves
};

struct MemoryOptions {
  std::string device = "auto";  // auto | cpu | cuda | cuda:N | reference (double accumulation: for checks)
  std::optional<std::int64_t> budget_bytes;  // not given: what is free, less a reserve
  std::string planner = "hybrid";
  std::optional<std::int64_t>
      host_bytes;        // of the host pool; 0: none; not given: what is free beside the budget
  fs::path disk_folder;  // for the scratch file; empty: no disk tier
  std::int64_t disk_bytes = 0;
  double to_host_rate = 0, to_device_rate = 0;  // bytes/s, a slower link to be imitated; 0: as measured
  // Planes of a piece of the largest volume, automatic_pieces, or whole_volumes (net/steps/pieces.h).
  std::int64_t pieces = net::automatic_pieces;
  swap::TflmsOptions tflms;
  std::int64_t lms_threshold = 8 << 20;
};

// Whether the post-processing that helps on the validation cases is looked for.
enum class FindPostprocessing { automatic, none };
constexpr std::array<std::string_view, 2> names_of(FindPostprocessing) {
  return {"auto", "none"};
}

struct EvaluateOptions {
  std::vector<std::string> at{"native"};  // native | training | the side of a cube, or of a square
  std::string empty = "brats";            // brats | nnunet
  std::vector<std::string> metrics{"dice", "hd95", "sensitivity", "specificity"};
  double surface_tolerance = 1;  // mm
  metrics::LesionOptions lesions;
  FindPostprocessing postprocessing = FindPostprocessing::automatic;
  bool tta = false;       // predictions are averaged over mirrored inputs
  bool ensemble = false;  // and over the repeats, which predict together instead of each alone
  int ignored = 0;        // the data's label of voxels that are left out of scores; 0: it has none
};

struct RunOptions {
  std::string name = "run";
  data::DatasetOptions data;
  SplitOptions split;
  data::PrepareOptions preprocess;
  net::NetworkOptions network;
  TrainingOptions training;
  MemoryOptions memory;
  EvaluateOptions evaluate;
  fs::path output = "runs/{name}";       // already expanded
  std::int64_t viewer_bytes = 32 << 20;  // most that volumes to look into take of report.html; 0: none
  fs::path cache;                        // of prepared volumes; empty: none

  std::string
      resolved;  // the experiment file with every key, versions and device: written as experiment.yaml
  SettingList settings;               // every key as that file has it, for who compares experiments
  std::string identity;               // of the run, as identity.json has it; empty: not known
  net::Ranks* ranks = &net::alone();  // that train this together
  // Neighbouring ranks that share each volume along its depth; 0: all ranks. A rank by itself has all of it.
  std::int64_t slabs = 1;
  // Of those, this one; and groups of them, which train on different samples.
  net::SlabRanks slab_ranks() const {
    const std::int64_t count = slabs == 0 || ranks->is_alone() ? ranks->count() : slabs;
    return {ranks->rank() % count, count};
  }
  bool is_first_of_group() const { return slab_ranks().rank == 0; }
  std::int64_t replica() const { return ranks->rank() / slab_ranks().count; }
  std::int64_t replicas() const { return ranks->count() / slab_ranks().count; }
  std::function<void(const Epoch&)> on_epoch{};  // called on the first rank
  bool resume = false;
  bool trace = false;  // write timeline.json: one step, for Perfetto
};

}  // namespace voxswap::pipeline
