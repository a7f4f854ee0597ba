// The experiment file: reads YAML and overrides into a struct with all defaults. Errors name file, line and
// the most similar key.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "experiments/settings.h"
#include "pipeline/cases/experiment.h"
#include "pipeline/report/setting.h"

namespace voxswap::experiments {

// An experiment with its file and its text.
struct LoadedExperiment : pipeline::Experiment {
  fs::path file{};
  pipeline::SettingList settings{};                     // every key
  std::string resolved{};                               // the file with every key
  std::vector<std::string> preset{};                    // "key: value" set by training.preset (presets.h)
  std::map<std::string, std::string> without_effect{};  // keys without effect, with reasons (rules.h)
};

// Reads FILE, applies "dotted.key=value" overrides in order (values are YAML), and checks everything that
// does not need the data. Relative paths in the file are relative to its folder; those on the command line,
// and the defaults of data.cache and output.dir, to the current folder. `resolved` has every key
// and absolute paths; data.split.fold only if there are folds. Throws Exit::usage.
LoadedExperiment load_experiment(const fs::path& file, const std::vector<std::string>& overrides);

// The two halves of load_experiment(), for callers that edit settings programmatically: reading the file, and
// making an experiment from settings.
Settings load_settings(const fs::path& file);
LoadedExperiment make_experiment(const fs::path& file, Settings settings);

// Updates `settings` and `resolved` after a change of other members.
void write_settings(LoadedExperiment& experiment);

// The experiment of a finished run: RUN_DIR/experiment.yaml with output.dir = RUN_DIR. Throws Exit::bad_data
// if the folder is not a run.
LoadedExperiment load_run(const fs::path& run_directory);

// The text of a file; a key's comment, a single line, is above it.
std::string experiment_text(const pipeline::SettingList& settings,
                            const std::map<std::string, std::string>& comments = {});

// The keys whose values differ, with the values of `after`: the changes of a resumed run.
pipeline::SettingList changed_settings(const pipeline::Experiment& before, const pipeline::Experiment& after);

// In the folder of a sweep's cell: the experiment before the machine was divided among cells.
constexpr const char* cell_file = "cell.yaml";

// pipeline::ReadSettings for reports: the settings of a run, written by any version. For a cell of a sweep,
// memory keys are those of cell.yaml, independent of its share of the machine.
pipeline::SettingList read_settings_of_run(const fs::path& file);

}  // namespace voxswap::experiments
