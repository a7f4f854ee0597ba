// voxswap check: checks every case of a data set and lists all problems.
#include <CLI/CLI.hpp>
#include <cmath>

#include "base/standard_streams.h"
#include "base/units.h"
#include "cli/options.h"
#include "cli/tables.h"
#include "data/layouts/open_dataset.h"

namespace voxswap::cli {

namespace {

// `path`: a folder, with options from the command line, or an experiment file with its own options.
data::CheckOptions what_to_check(const std::string& path, const std::string& layout,
                                 const std::string& background) {
  data::CheckOptions what;
  if (ends_with(lower(path), ".yaml") || ends_with(lower(path), ".yml")) {
    if (!layout.empty() || !background.empty())
      fail(Exit::usage, "{}: --layout and --background come from the experiment", path);
    const pipeline::Experiment experiment = experiments::load_experiment(path, {});
    return {experiment.data, experiment.preprocess.corner_background, experiment.preprocess.background};
  }
  what.data.root = path;
  if (!layout.empty()) what.data.layout = layout;
  what.corner_background = background == "corner";
  if (!what.corner_background && !background.empty()) {
    const auto value = parse_number<double>(background);
    if (!value || !std::isfinite(*value))
      fail(Exit::usage, "--background: expected a number or corner, found '{}'", background);
    what.background = *value;
  }
  return what;
}

// Errors are Exit::bad_data, unless all are due to a lack of memory.
Exit exit_of(const data::CheckReport& report, bool strict) {
  bool errors = false, bad_data = false;
  for (const data::Problem& problem : report.problems) {
    if (problem.severity != "error") continue;
    errors = true;
    bad_data = bad_data || !problem.does_not_fit;
  }
  const bool skipped = std::any_of(report.unused.begin(), report.unused.end(),
                                   [](const data::Unused& one) { return one.severity == "error"; });
  if (errors && !bad_data && !skipped) return Exit::does_not_fit;
  if (errors || skipped || (strict && count_problems(report, "warning") > 0)) return Exit::bad_data;
  return Exit::done;
}

}  // namespace

Exit check_command(const Arguments& arguments) {
  CLI::App app("Check every case of a data set and list all problems. Errors end with exit code 3.",
               "voxswap check");
  CommonOptions common;
  std::string path, layout, background;
  bool strict = false;
  app.add_option("DATASET", path, "Folder of a data set, or an experiment file")->required();
  app.add_option("--layout", layout, "auto (the default) or one of " + join(data::layout_names(), ", "));
  app.add_option("--background", background, "Background intensity: a value (default: 0) or corner");
  app.add_flag("--strict", strict, "Treat warnings as errors (exit code 3)");
  add_common(app, common, true);
  if (!parse(app, arguments, common)) return Exit::done;

  const data::CheckReport report = data::check_dataset(what_to_check(path, layout, background));
  common.json ? print_exactly(check_json(report) + "\n") : print(check_text(report));
  return exit_of(report, strict);
}

}  // namespace voxswap::cli
