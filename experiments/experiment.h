// The experiment file: YAML with overrides becomes one struct with all defaults, or an error that names file,
// line and the nearest known key.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "experiments/settings.h"
#include "pipeline/cases/options.h"

namespace voxswap::experiments {

struct Experiment {
  pipeline::RunOptions run;
  fs::path file;
  std::vector<std::string> preset;                    // "key: value" of what training.preset set (presets.h)
  std::map<std::string, std::string> without_effect;  // keys that were given in vain, and why (rules.h)
};

// Reads FILE, applies "dotted.key=value" overrides in order (value is YAML), checks everything that can be
// checked without the data. Relative paths in the file are taken from the file's folder, those on the command
// line from the current one, as are the defaults of data.cache and output.dir. run.resolved holds the file as
// it would be written with every key, all paths absolute; data.split.fold only where there are folds.
// Throws Exit::usage.
Experiment load_experiment(const fs::path& file, const std::vector<std::string>& overrides);

// The two halves of it, for who changes settings by other means than a line: the file as it stands, and the
// experiment that settings make.
Settings load_settings(const fs::path& file);
Experiment make_experiment(const fs::path& file, Settings settings);

// Fills in run.settings and run.resolved after a change of options.
void write_settings(Experiment& experiment);

// The experiment of a finished run: RUN_DIR/experiment.yaml with output.dir = RUN_DIR. Throws Exit::bad_data
// when it is no run.
Experiment load_run(const fs::path& run_directory);

// As a file; a key's comment, one line, stands above it.
std::string experiment_text(const pipeline::SettingList& settings,
                            const std::map<std::string, std::string>& comments = {});

// The keys whose values differ, with those of `after`: what a resumed run would do differently.
pipeline::SettingList changed_settings(const pipeline::RunOptions& before, const pipeline::RunOptions& after);

// In the folder of a sweep's cell: the experiment as it was asked for.
constexpr const char* cell_file = "cell.yaml";

// What a run was made with, of whatever version it was: the pipeline::ReadSettings of reports. Of a sweep's
// cell the memory keys are as asked for, whatever share of the machine it got.
pipeline::SettingList read_settings_of_run(const fs::path& file);

}  // namespace voxswap::experiments
