// voxswap check: every case of a data set, every problem, and how large its foregrounds are.
#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "cli/check_table.h"
#include "cli/options.h"

namespace voxswap {

namespace {

// A folder with options of its own, or an experiment that has them written down.
CheckOptions what_to_check(const std::string& path, const std::string& layout,
                           const std::string& background) {
  CheckOptions what;
  if (ends_with(lower(path), ".yaml") || ends_with(lower(path), ".yml")) {
    if (!layout.empty() || !background.empty())
      fail(Exit::usage, "{}: --layout and --background come from the experiment", path);
    const RunOptions run = load_experiment(path, {}).run;
    return {run.data, run.preprocess.corner_background, run.preprocess.background};
  }
  what.data.root = path;
  if (!layout.empty()) what.data.layout = layout;
  what.corner_background = background == "corner";
  if (!what.corner_background && !background.empty()) {
    const char* end = background.data() + background.size();
    const auto [rest, error] = std::from_chars(background.data(), end, what.background);
    if (error != std::errc{} || rest != end || !std::isfinite(what.background))
      fail(Exit::usage, "--background: expected a number or corner, found '{}'", background);
  }
  return what;
}

}  // namespace

Exit check_command(const Arguments& arguments) {
  CLI::App app("Look at every case of a data set and tell every problem. Exit code 3 when there are errors.",
               "voxswap check");
  CommonOptions common;
  std::string path, layout, background;
  app.add_option("DATASET", path, "folder of the data set, or an experiment (.yaml) that names one")
      ->required();
  app.add_option("--layout", layout, "auto (the default) or one of " + join(layout_names(), ", "));
  app.add_option("--background", background, "what lies around the head: a value (0 by default) or corner");
  add_common(app, common, true);
  if (!parse(app, arguments, common)) return Exit::done;

  const CheckReport report = check_dataset(what_to_check(path, layout, background));
  std::fputs((common.json ? check_json(report) + "\n" : check_text(report)).c_str(), stdout);
  return count_problems(report, "error") > 0 ? Exit::bad_data : Exit::done;
}

}  // namespace voxswap
