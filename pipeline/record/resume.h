// Resuming a run: verifies that experiment, data and files are unchanged. Writes nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/file.h"
#include "data/layouts/dataset.h"
#include "pipeline/cases/cases.h"
#include "pipeline/cases/experiment.h"
#include "pipeline/record/checkpoint.h"
#include "pipeline/record/identity.h"
#include "pipeline/record/run_context.h"

namespace voxswap::pipeline {

// The run to resume with context.resume; nullopt for a new run. Throws Exit::bad_data if its experiment or
// its list of cases has changed.
std::optional<RunIdentity> begun_run(const Experiment& experiment, const RunContext& context,
                                     const data::Dataset& dataset);

// The split of the run, made once at its start. Throws Exit::bad_data if it was modified or differs from
// data.split.file.
Split split_of(const std::optional<RunIdentity>& begun, const Experiment& experiment,
               const data::Dataset& dataset);

// The identity of the resumed or new run. Throws Exit::bad_data if a file of a case in the split has changed.
RunIdentity confirmed(std::optional<RunIdentity> begun, const Experiment& experiment,
                      const SettingList& settings, Cases& cases, const Split& split);

// A run whose networks predict.
struct TrainedRun {
  Experiment experiment{};
  SettingList settings{};  // every key of the experiment
  std::string identity{};  // as in RunContext
  // With preprocess.cascade: the run whose label maps are an input, in the folder previous_stage.
  std::vector<TrainedRun> previous{};
};
inline constexpr const char* previous_stage = "previous_stage";
// Throws Exit::usage if it is one: a cascade cannot leave the folder of its run in one file.
void check_no_cascade(const TrainedRun& run);

// Adds the run's identity, for checking checkpoints in prediction. Throws Exit::bad_data if
// experiment.yaml, dataset.json or split.csv in the run's folder has changed.
TrainedRun confirmed_for_prediction(TrainedRun run);

// What prediction needs from a finished run: the description of its data and the best weights of its repeats.

// The data set as recorded in training, since the data may have moved. Runs of earlier versions have no
// record; their data is opened.
data::Dataset trained_on(const Experiment& experiment);

struct BestWeights {
  std::string where;  // file name
  Checkpoint checkpoint;
  data::Normalization normalization;  // of the data set; empty if the run does not use it
};

// File of the weights with which a repeat predicts: the best averaged ones if there are any, unless `raw`
// selects the weights without averaging.
fs::path predicting_file(const Experiment& experiment, std::int64_t repeat, bool raw = false);

// Reads that file. Repeats count from 1. Throws Exit::bad_data if weights are missing, damaged, or belong to
// another run or data set; warns if they have no checksums.
BestWeights best_weights(const TrainedRun& run, const data::Dataset& dataset, std::int64_t repeat,
                         bool raw = false);

// Names of files in a run's folder.
constexpr const char* description_file = "dataset.json";  // the training data set

// `repeat` counts from 1.
fs::path checkpoint_folder(const Experiment& experiment, std::int64_t repeat);

// Repeats whose probabilities are averaged: a single one, or all with evaluate.ensemble. Tables and folders
// name a team by its first repeat.
using Team = std::vector<std::int64_t>;
std::vector<Team> predicting_teams(const Experiment& experiment);
fs::path prediction_folder(const Experiment& experiment, const Team& team);

}  // namespace voxswap::pipeline
