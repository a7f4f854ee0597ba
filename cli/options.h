// What commands share on the command line.
#pragma once

#include <string>
#include <vector>

#include "cli/commands.h"
#include "experiments/experiment.h"

namespace CLI {
class App;
}

namespace voxswap {

struct CommonOptions {
  bool quiet = false;
  bool json = false;
  std::string log_level = "info";
};
void add_common(CLI::App& app, CommonOptions& options, bool with_json = false);

// Reads the arguments and applies the common options. False: help was asked for and has been printed. Throws
// Exit::usage for what the command does not know.
bool parse(CLI::App& app, const Arguments& arguments, const CommonOptions& options);

// EXPERIMENT.yaml [key=value ...]
struct ExperimentArguments {
  std::string file;
  std::vector<std::string> overrides;
  std::string out;  // --out, where the command has it
};
void add_experiment(CLI::App& app, ExperimentArguments& arguments);
Experiment load(const ExperimentArguments& arguments);

}  // namespace voxswap
