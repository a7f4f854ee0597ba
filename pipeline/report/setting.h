// The keys of an experiment with their values and what each key decides. This determines which runs are
// repeats, how runs are named, what may change on resume, and whether a sweep recomputes a cell.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/file.h"

namespace voxswap::pipeline {

enum class Decides {
  nothing,     // file locations, checkpoint intervals, distribution of work
  name,        // name of the run
  source,      // location of the data, which is identified by content
  data,        // input of the network
  fold,        // fold of a cross-validation
  resolution,  // resolution of the input, which has its own column in tables
  model,       // network and training
  chance,      // random seeds
  epochs,      // number of epochs
  stop,        // early stopping
  memory,      // execution of a step, without effect on results
  scores,      // evaluation of predictions
  shown        // selection of reported scores
};

struct Setting {
  std::string key;    // "training.epochs"
  std::string value;  // as text
  Decides decides = Decides::model;
};
using SettingList = std::vector<Setting>;

// True if runs that differ in this are different models instead of repeats.
constexpr bool distinguishes_models(Decides decides) {
  using enum Decides;
  return decides != nothing && decides != name && decides != fold && decides != resolution &&
         decides != chance && decides != shown;
}

// Reads the settings from a run's experiment.yaml, including `ran_with`, which describes the run and decides
// nothing. Throws Exit::usage for invalid YAML. A callback, since the keys are defined elsewhere.
using ReadSettings = std::function<SettingList(const fs::path& experiment)>;

}  // namespace voxswap::pipeline
