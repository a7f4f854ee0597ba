// Options shared by several commands.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "cli/commands.h"
#include "experiments/experiment.h"

namespace CLI {
class App;
}

namespace voxswap::cli {

struct CommonOptions {
  bool quiet = false;
  bool json = false;
  std::string log_level = "info";
};
void add_common(CLI::App& app, CommonOptions& options, bool with_json = false);

// --force, for commands that write to user-specified files.
void add_force(CLI::App& app, bool& force);

// --as, a known device to plan for instead of the one of this machine.
void add_as(CLI::App& app, std::string& as, const std::string& meaning);

// --hours, the time limit of a training that voxswap configures.
void add_hours(CLI::App& app, double& hours, const std::string& meaning);

// Parses the arguments and applies the common options. False: help has been printed, or the options were
// recorded (describe.h). Throws Exit::usage for unknown arguments.
bool parse(CLI::App& app, const Arguments& arguments, const CommonOptions& options);

// Parses voxels "X" or "X,Y,Z", each from `smallest` to `largest`. Throws Exit::usage that names the option.
Size3 parse_size(const std::string& option, const std::string& text, std::int64_t smallest,
                 std::int64_t largest);

// Calls `read` for an option's value and prepends the option's name to errors.
template <class Read>
auto value_of(const std::string& option, Read read) {
  try {
    return read();
  } catch (const Error& error) {
    throw Error(error.exit(), option + ": " + error.what());
  }
}

// EXPERIMENT.yaml [key=value ...]
struct ExperimentArguments {
  std::string file;
  std::vector<std::string> overrides;
  std::string out;  // --out, if the command has it
};
void add_experiment(CLI::App& app, ExperimentArguments& arguments);
experiments::LoadedExperiment load(const ExperimentArguments& arguments);
// Logs a warning for each key without effect.
void warn_of_keys_without_effect(const experiments::LoadedExperiment& experiment);

}  // namespace voxswap::cli
