// voxswap check: every case of a data set, every problem, and how large its foregrounds are.
#include "data/check.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/options.h"
#include "metrics/box_statistics.h"

namespace voxswap {

namespace {

struct AxisStatistics {
  double mean, median;
  std::int64_t smallest, largest;
};

AxisStatistics axis_statistics(const CheckReport& report, std::size_t axis) {
  std::vector<double> sides;
  for (const auto& [id, size] : report.foreground) sides.push_back(static_cast<double>(size[axis]));
  const BoxStatistics box = box_statistics(sides);
  return {box.mean, box.median, std::llround(box.minimum), std::llround(box.maximum)};
}

std::int64_t count(const CheckReport& report, const std::string& severity) {
  return std::count_if(report.problems.begin(), report.problems.end(),
                       [&](const Problem& problem) { return problem.severity == severity; });
}

std::string as_json(const CheckReport& report) {
  nlohmann::ordered_json json;
  json["root"] = report.dataset.root.string();
  json["layout"] = report.dataset.layout;
  json["modalities"] = report.dataset.modalities;
  json["cases"] = report.dataset.cases.size();
  for (const auto& [name, value] : report.dataset.labels) json["labels"][name] = value;
  for (const auto& [name, values] : report.dataset.regions) json["regions"][name] = values;
  json["problems"] = nlohmann::json::array();
  for (const Problem& problem : report.problems)
    json["problems"].push_back({{"case", problem.case_id},
                                {"severity", problem.severity},
                                {"what", problem.what},
                                {"fix", problem.fix}});
  for (const auto& [id, size] : report.foreground) json["foreground"][id] = size;
  for (std::size_t axis = 0; axis < 3 && !report.foreground.empty(); ++axis) {
    const AxisStatistics of = axis_statistics(report, axis);
    json["foreground_statistics"][std::string(1, "xyz"[axis])] = {
        {"mean", of.mean}, {"median", of.median}, {"min", of.smallest}, {"max", of.largest}};
  }
  return json.dump(2);
}

std::string as_text(const CheckReport& report) {
  const Dataset& dataset = report.dataset;
  std::string text = format("{}: layout {}, {} cases, channels {}\n", dataset.root.string(), dataset.layout,
                            dataset.cases.size(), join(dataset.modalities, ", "));
  std::vector<std::vector<std::string>> problems = {{"case", "severity", "problem", "what to do"}};
  for (const Problem& problem : report.problems)
    problems.push_back(
        {problem.case_id.empty() ? "(all)" : problem.case_id, problem.severity, problem.what, problem.fix});
  if (problems.size() > 1) text += "\n" + table(problems);
  if (!report.foreground.empty()) {
    std::vector<std::vector<std::string>> sizes = {{"foreground, voxels", "mean", "median", "min", "max"}};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const AxisStatistics of = axis_statistics(report, axis);
      sizes.push_back({std::string(1, "xyz"[axis]), format("{:.1f}", of.mean), format("{:.1f}", of.median),
                       std::to_string(of.smallest), std::to_string(of.largest)});
    }
    text += "\n" + table(sizes);
  }
  return text + format("\n{} errors, {} warnings\n", count(report, "error"), count(report, "warning"));
}

struct What {
  DatasetOptions data;
  bool corner = false;
  double background = 0;
};

// A folder with options of its own, or an experiment that has them written down.
What what_to_check(const std::string& path, const std::string& layout, const std::string& background) {
  What what;
  if (ends_with(lower(path), ".yaml") || ends_with(lower(path), ".yml")) {
    if (!layout.empty() || !background.empty())
      fail(Exit::usage, "{}: --layout and --background come from the experiment", path);
    const RunOptions run = load_experiment(path, {}).run;
    return {run.data, run.preprocess.corner_background, run.preprocess.background};
  }
  what.data.root = path;
  if (!layout.empty()) what.data.layout = layout;
  what.corner = background == "corner";
  if (!what.corner && !background.empty()) {
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

  const What what = what_to_check(path, layout, background);
  const CheckReport report = check_dataset(what.data, what.corner, what.background);
  std::fputs(common.json ? (as_json(report) + "\n").c_str() : as_text(report).c_str(), stdout);
  return count(report, "error") > 0 ? Exit::bad_data : Exit::done;
}

}  // namespace voxswap
