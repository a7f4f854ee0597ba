// The keys of an experiment with their values, and what each of them decides.
//
// Everything that has to tell keys apart goes by that: which runs are repeats of one another, what a run is
// known by, what may change when it goes on, and what a sweep asks a cell for again.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/file.h"

namespace voxswap::pipeline {

enum class Decides {
  nothing,     // where files are kept, how often they are written, how work is shared out
  name,        // what the run is called
  source,      // where data is read, which is known by its content
  data,        // what the network sees
  fold,        // which of it, in turn: runs on all folds score every case once
  resolution,  // how finely it sees it, for which tables have a column of their own
  model,       // what is trained, and how
  chance,      // which of many equal models
  epochs,      // how long it is trained
  stop,        // when it is stopped before that
  memory,      // when and where a step is computed, never what
  scores,      // how predictions are scored
  shown        // which scores are told
};

struct Setting {
  std::string key;    // "training.epochs"
  std::string value;  // as text
  Decides decides = Decides::model;
};
using SettingList = std::vector<Setting>;

// Do two runs that differ in this hold different models, rather than repeats of one?
bool distinguishes_models(Decides decides);

// Reads the settings in an experiment.yaml that a run wrote, with what it noted about itself below
// `ran_with`, which decides nothing. Throws Exit::usage for what is no YAML. Given by the room that knows the
// keys.
using ReadSettings = std::function<SettingList(const fs::path& experiment)>;

}  // namespace voxswap::pipeline
