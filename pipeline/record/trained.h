// What a finished run provides for prediction: the description of its data and the best weights of its
// repeats.
#pragma once

#include <cstdint>
#include <string>

#include "base/filesystem.h"
#include "data/layouts/dataset.h"
#include "pipeline/cases/options.h"
#include "pipeline/record/checkpoint.h"

namespace voxswap::pipeline {

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

}  // namespace voxswap::pipeline
