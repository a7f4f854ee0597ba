// Options that commands share.
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

// --force, of commands that write files where they are told to.
void add_force(CLI::App& app, bool& force);

// Reads the arguments and applies the common options. False: help was asked for and has been printed, or
// told to who asked (describe.h). Throws Exit::usage for what the command does not know.
bool parse(CLI::App& app, const Arguments& arguments, const CommonOptions& options);

// Voxels as "X" or "X,Y,Z", each from `smallest` to `largest`. Throws Exit::usage naming the option.
data::Size3 parse_size(const std::string& option, const std::string& text, std::int64_t smallest,
                       std::int64_t largest);

// What `read` makes of an option's value; the option is named where it makes nothing of it.
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
  std::string out;  // --out, where the command has it
};
void add_experiment(CLI::App& app, ExperimentArguments& arguments);
experiments::Experiment load(const ExperimentArguments& arguments);
// A warning for each key that was given in vain.
void warn_of_keys_without_effect(const experiments::Experiment& experiment);

}  // namespace voxswap::cli
