// An experiment: the sections of its file as plain structs with their defaults.
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
#include "net/networks/network.h"
#include "net/steps/slabs.h"
#include "net/steps/step.h"
#include "swap/planners/planner.h"

namespace voxswap::pipeline {

struct SplitOptions {
  double validation = 0.2;
  std::uint64_t seed = 1;
  fs::path file;          // split.csv (columns case,part) or nnU-Net's splits_final.json; empty: random split
  std::int64_t fold = 0;  // validation fold, of `folds` or of splits_final.json
  std::int64_t folds = 0;  // number of folds; 0: `validation` is the fraction of validation cases
  fs::path table{};        // CSV with a column `case` and properties of cases; empty: none
  // Column of the table to stratify by, or by_foreground; empty: not stratified.
  std::string stratify{};
  static constexpr const char* by_foreground = "foreground";
  // Column of the table, pattern of case names with {patient}, or `known`: as names of BIDS and BraTS and
  // DICOM series tell; empty: none. A patient's cases stay in one part.
  std::string patient = known;
  static constexpr const char* known = "auto";
  bool operator==(const SplitOptions&) const = default;
};

enum class Schedule { plateau, poly, cosine, constant };
constexpr std::array<std::string_view, 4> names_of(Schedule) {
  return {"plateau", "poly", "cosine", "constant"};
}

// Output channels of the network: one per label (mutually exclusive), one per region (may overlap), or both,
// where regions of a single label appear once.
enum class Targets { labels, regions, both };
constexpr std::array<std::string_view, 3> names_of(Targets) {
  return {"labels", "regions", "both"};
}

// Type of activations. automatic: the fastest that is safe on the device.
enum class Precision { automatic, f32, tf32, bf16, f16 };
constexpr std::array<std::string_view, 5> names_of(Precision) {
  return {"auto", "f32", "tf32", "bf16", "f16"};
}

// How the learning rate scales with the batch size.
enum class RateScaling { none, linear, sqrt };
constexpr std::array<std::string_view, 3> names_of(RateScaling) {
  return {"none", "linear", "sqrt"};
}

struct RateOptions {
  RateScaling scaling = RateScaling::none;
  std::int64_t reference_batch = 1;  // batch size for which the optimiser's learning rate is given
  bool operator==(const RateOptions&) const = default;
};

struct LearningRateSchedule {
  Schedule name = Schedule::plateau;
  double warm_up = 0;          // epochs
  double factor = 0.5;         // plateau
  std::int64_t patience = 10;  // plateau, epochs
  bool operator==(const LearningRateSchedule&) const = default;
};

// Averaging of weights during training (pipeline/train/weight_average.h).
enum class Averaging { none, ema, swa };
constexpr std::array<std::string_view, 3> names_of(Averaging) {
  return {"none", "ema", "swa"};
}

struct AveragingOptions {
  Averaging name = Averaging::none;
  double decay = 0.999;    // ema
  std::int64_t start = 0;  // first averaged epoch; 0: the first (ema), or the first of the last quarter (swa)
  bool operator==(const AveragingOptions&) const = default;
};

// Logs written during training besides its tables.
struct LogOptions {
  bool tensorboard = false;  // event files in tensorboard/
  bool jsonl = false;        // log.jsonl
  bool operator==(const LogOptions&) const = default;
};

// A published training configuration; supplies values of keys that the experiment does not set.
enum class Preset { none, nnunet };
constexpr std::array<std::string_view, 2> names_of(Preset) {
  return {"none", "nnunet"};
}

// Weights of the outputs in the loss.
struct ClassWeights {
  bool automatic = false;                                 // by frequency of the output's voxels
  std::vector<std::pair<std::string, double>> by_name{};  // all other outputs: 1
  bool operator==(const ClassWeights&) const = default;
};

// Epochs on a coarser grid, before those on the experiment's grid.
struct GrowthStage {
  double coarser = 2;  // how many times as coarse along each axis
  std::int64_t epochs = 1;
  bool operator==(const GrowthStage&) const = default;
};

struct TrainingOptions {
  Preset preset = Preset::none;
  std::int64_t epochs = 500;
  std::int64_t batch_size = 1;
  net::OptimizerOptions optimizer;
  RateOptions rate;
  LearningRateSchedule schedule;
  AveragingOptions averaging;
  std::int64_t early_stop = 50;  // epochs without improvement of the validation loss; 0: never
  net::Loss loss = net::Loss::weighted_dice;
  double label_smoothing = 0;
  double focal_gamma = 0;
  bool batch_dice = false;
  ClassWeights class_weights;
  Targets targets = Targets::labels;
  fs::path init;  // run or safetensors file with initial weights; empty: random weights
  Precision precision = Precision::automatic;
  data::AugmentOptions augment;
  std::optional<Size3> patch;       // patch size in voxels of the training grid; nullopt: whole volumes
  std::vector<GrowthStage> growth;  // coarsest first; empty: none
  double foreground = 1.0 / 3;      // fraction of patches that are centred on a labelled voxel
  std::int64_t loader_threads = 0;  // threads that load samples in advance; 0: chosen by the device
  std::uint64_t seed = 1;
  bool deterministic = true;  // on a CPU always true; false: a GPU uses the fastest kernels
  std::int64_t repeats = 1;
  LogOptions log;
  double checkpoint_minutes = 10;  // in addition to one after every epoch that improves
  bool operator==(const TrainingOptions&) const = default;
};

struct MemoryOptions {
  std::string device = "auto";  // auto | cpu | cuda | cuda:N | reference (accumulates in double, for tests)
  std::optional<std::int64_t> budget_bytes;  // nullopt: free memory less a reserve
  std::string planner = "hybrid";
  std::optional<std::int64_t>
      host_bytes;        // size of the host pool; 0: no pool; nullopt: free memory less the budget
  fs::path disk_folder;  // folder of the scratch file; empty: no disk tier
  std::int64_t disk_bytes = 0;
  double to_host_rate = 0, to_device_rate = 0;  // bytes/s of a simulated slower link; 0: as measured
  // Planes per slab of the largest volume, automatic_slabs, or whole_volumes (net/steps/slabs.h).
  std::int64_t slabs = net::automatic_slabs;
  swap::TflmsOptions tflms;
  std::int64_t lms_threshold = 8 << 20;
  bool operator==(const MemoryOptions&) const = default;
};

// Whether to search for post-processing that improves validation scores.
enum class FindPostprocessing { automatic, none };
constexpr std::array<std::string_view, 2> names_of(FindPostprocessing) {
  return {"auto", "none"};
}

// What windows, mirrored inputs and networks of an ensemble average. nnunet: logits, with the window weights
// and half-precision sums of nnU-Net 2 (pipeline/predict/nnunet_windows.h).
enum class Average { probabilities, nnunet };
constexpr std::array<std::string_view, 2> names_of(Average) {
  return {"probabilities", "nnunet"};
}

struct EvaluateOptions {
  std::vector<std::string> at{"native"};  // native | training | side of a cube or square
  std::string empty = "brats";            // brats | nnunet
  std::vector<std::string> metrics{"dice", "hd95", "sensitivity", "specificity"};
  double surface_tolerance = 1;  // mm
  metrics::LesionOptions lesions;
  FindPostprocessing postprocessing = FindPostprocessing::automatic;
  bool tta = false;       // test-time augmentation: average predictions over mirrored inputs
  bool ensemble = false;  // average predictions over the repeats
  Average average = Average::probabilities;
  int ignored = 0;  // label value excluded from scores; 0: none
  bool operator==(const EvaluateOptions&) const = default;
};

// Memory for prepared volumes, of all ranks of a machine, before the budgets are known.
constexpr std::int64_t least_memory_for_cases = 1LL << 30;

struct Experiment {
  std::string name = "run";
  data::DatasetOptions data;
  SplitOptions split;
  data::PrepareOptions preprocess;
  net::NetworkOptions network;
  TrainingOptions training;
  MemoryOptions memory;
  EvaluateOptions evaluate;
  fs::path output = "runs/{name}";       // already expanded
  std::int64_t viewer_bytes = 32 << 20;  // limit for volumes embedded in report.html for the viewer; 0: none
  fs::path cache;                        // of prepared volumes; empty: no cache
  // Host memory for prepared volumes, of all ranks of a machine; nullopt: what the budgets leave, at least 1
  // GiB.
  std::optional<std::int64_t> cases_bytes;
  // Number of neighbouring ranks that split each volume along its depth; 0: all ranks. A single rank
  // processes whole volumes.
  std::int64_t slabs = 1;
  bool operator==(const Experiment&) const = default;
};

// Folder, in that of a run, of the run on a coarser grid whose weights it begins with (training.growth).
inline fs::path growth_folder(const fs::path& run) {
  return run / "growth";
}

}  // namespace voxswap::pipeline
