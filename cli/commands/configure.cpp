// voxswap configure: writes an experiment file for a data set, with a reason for every key.
#include <CLI/CLI.hpp>

#include "base/file.h"
#include "base/outputs.h"
#include "base/standard_streams.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/configuring.h"
#include "cli/options.h"

namespace voxswap::cli {

namespace {

struct ConfigureArguments {
  experiments::ConfigureRequest request;
  CommonOptions common;
  std::string root, out = "experiment.yaml", page, memory;
  bool leave_out = false;
};

void declare(CLI::App& app, ConfigureArguments& arguments) {
  experiments::ConfigureRequest& request = arguments.request;
  app.add_option("DATASET", arguments.root, "Folder of the data set")->required();
  app.add_option("key=value", request.overrides, "Keys to set instead of choosing their values");
  app.add_option("--out", arguments.out, "Experiment file to write; must not exist")->capture_default_str();
  app.add_option("--memory", arguments.memory, "Memory for training, e.g. 16GiB (default: free memory)");
  add_hours(app, request.hours, "Time limit of training in hours");
  add_as(app, request.as, "Device to plan for instead of the one of this machine");
  app.add_option("--folds", request.folds, "Number of folds for cross-validation")
      ->capture_default_str()
      ->check(CLI::Range(2, 1000));
  app.add_option("--candidates", request.candidates, "Write a sweep over this many of the best candidates")
      ->capture_default_str()
      ->check(CLI::Range(1, 100));
  app.add_option("--page", arguments.page,
                 "HTML file to write with the tables and histograms of intensities");
  app.add_flag("--estimate", request.estimate, "Plan with typical costs instead of measured ones");
  app.add_flag("--leave-out", arguments.leave_out, "Skip cases that cannot be read or lack files");
  add_common(app, arguments.common, true);
}

void check_is_free(const fs::path& file) {
  error_code ignored;
  if (fs::exists(fs::symlink_status(file, ignored)))
    fail(Exit::usage, "{}: exists already and is not overwritten. Choose another file", file.string());
}

// The commands that use the file.
std::string next_commands(const experiments::Configuration& configuration, const std::string& file) {
  if (configuration.swept.empty()) return format("  voxswap plan {}\n  voxswap run {}\n", file, file);
  return format("  voxswap sweep {} --dry-run\n  voxswap sweep {}\n  voxswap report {} --ensembles\n", file,
                file, configuration.experiment.output.string());
}

}  // namespace

Exit configure_command(const Arguments& words) {
  CLI::App app(
      "Analyse every case of a data set and write an experiment for it, with a reason for every key.",
      "voxswap configure");
  ConfigureArguments arguments;
  declare(app, arguments);
  if (!parse(app, words, arguments.common)) return Exit::done;

  experiments::ConfigureRequest& request = arguments.request;
  request.root = arguments.root;
  request.file = arguments.out;
  if (!arguments.memory.empty())
    request.memory = value_of("--memory", [&] { return parse_bytes(arguments.memory); });
  check_output_file("--out", request.file);
  check_is_free(request.file);
  if (!arguments.page.empty()) {
    check_output_file("--page", arguments.page);
    check_is_free(arguments.page);
  }
  const pipeline::Fingerprint fingerprint = fingerprint_for(request, arguments.leave_out);
  if (!arguments.common.json) print(fingerprint_text(fingerprint));
  fs::path split;
  if (!fingerprint.unreadable.empty()) {
    split = request.file.parent_path() / (request.file.stem().string() + "_splits.json");
    check_is_free(split);
  }
  const experiments::Configuration configuration = experiments::configure(fingerprint, request, split);
  if (!split.empty()) write_file(split, experiments::splits_text(fingerprint, configuration.folds));
  check_is_free(request.file);  // another `configure` may have been faster
  write_file(request.file, configuration.text);
  if (!arguments.page.empty()) write_file(arguments.page, configuration_page(fingerprint, configuration));
  if (arguments.common.json)
    print_exactly(configuration_json(fingerprint, configuration) + "\n");
  else
    print("{}\nwritten to {}. Continue with\n{}", configuration_text(configuration), arguments.out,
          next_commands(configuration, arguments.out));
  return Exit::done;
}

}  // namespace voxswap::cli
