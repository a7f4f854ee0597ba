// Resuming a run: verifies that experiment, data and files are those that it was started with. Nothing is
// written here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/file.h"
#include "data/layouts/dataset.h"
#include "pipeline/cases/cases.h"
#include "pipeline/cases/options.h"
#include "pipeline/record/checkpoint.h"
#include "pipeline/record/identity.h"

namespace voxswap::pipeline {

// The run that options.resume goes on with; nothing where a run begins. Throws Exit::bad_data when its
// experiment, or the list of the data's cases, is no longer what it was.
std::optional<RunIdentity> begun_run(const RunOptions& options, const data::Dataset& dataset);

// The run's own split, which is drawn once. Throws Exit::bad_data when it was changed, or options.split.file
// now says something else.
Split split_of(const std::optional<RunIdentity>& begun, const RunOptions& options,
               const data::Dataset& dataset);

// The run's identity, or that of a run that begins now. Throws Exit::bad_data when a file of a case that
// takes part has other bytes than before.
RunIdentity confirmed(std::optional<RunIdentity> begun, const RunOptions& options, Cases& cases,
                      const Split& split);

// The options with the identity that prediction checks checkpoints against. Throws Exit::bad_data when
// experiment.yaml, dataset.json or split.csv in the run's folder is not what the run was begun with.
RunOptions confirmed_for_prediction(RunOptions options);

// What a finished run provides for prediction: the description of its data and the best weights of its
// repeats.

// As it was noted in training: the data may be elsewhere by now. Runs of earlier versions noted nothing, and
// their data is opened.
data::Dataset trained_on(const RunOptions& options);

struct BestWeights {
  std::string where;  // the file
  Checkpoint checkpoint;
  data::Normalization normalization;  // the data set's; empty where the run does not use it
};

// The file of the weights that a repeat predicts with: the best averaged ones where the experiment has
// weights averaged and any were, unless `raw` asks for those that training itself came to.
fs::path predicting_file(const RunOptions& options, std::int64_t repeat, bool raw = false);

// Its content. Repeats are counted from 1. Throws Exit::bad_data where they are missing, damaged, or not of a
// run with these options on this data; a warning says where nothing vouches for them.
BestWeights best_weights(const RunOptions& options, const data::Dataset& dataset, std::int64_t repeat,
                         bool raw = false);

// Names of files in a run's folder.
constexpr const char* description_file = "dataset.json";  // the data it was trained on

// `repeat` counts from 1.
fs::path checkpoint_folder(const RunOptions& options, std::int64_t repeat);

// The repeats whose probabilities are averaged: each alone, or all (evaluate.ensemble). Tables and folders
// name a team by its first repeat.
using Team = std::vector<std::int64_t>;
std::vector<Team> predicting_teams(const RunOptions& options);
fs::path prediction_folder(const RunOptions& options, const Team& team);

}  // namespace voxswap::pipeline
