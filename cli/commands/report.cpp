// voxswap report: compares finished runs.
#include "voxswap/report.h"

#include <CLI/CLI.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/standard_streams.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/options.h"

namespace voxswap::cli {

namespace {

Json best_json(const BestModel& best) {
  if (best.name.empty()) return nullptr;
  Json json = {{"name", best.name},       {"ensemble", best.ensemble}, {"dice", best.dice},
               {"cases", best.cases},     {"next", nullptr},           {"runs", best.runs},
               {"command", best.command}, {"words", best.words},       {"finding", best.finding}};
  if (!best.next.empty())
    json["next"] = {{"name", best.next},
                    {"behind", best.lead},
                    {"interval_low", best.lead_low},
                    {"interval_high", best.lead_high}};
  return json;
}

// "89mm", "8.9cm" or "3.5in" in mm; empty text if valid, otherwise the expected form.
std::string read_width(const std::string& text, double& millimetres) {
  constexpr double least = 30, most = 1000;
  constexpr std::pair<const char*, double> units[] = {{"mm", 1}, {"cm", 10}, {"in", 25.4}};
  for (const auto& [unit, factor] : units) {
    if (!text.ends_with(unit)) continue;
    const auto value = parse_number<double>(std::string_view(text).substr(0, text.size() - 2));
    if (value && *value * factor >= least && *value * factor <= most) {
      millimetres = *value * factor;
      return {};
    }
  }
  return format("expected {} to {} mm, such as 89mm, 18.3cm or 3.5in, found '{}'", least, most, text);
}

}  // namespace

Exit report_command(const Arguments& arguments) {
  CLI::App app(
      "Compare finished runs in CSV files, plots and one page, report.html. Runs that differ only in name "
      "and "
      "seed are repeats of one model; other runs are compared case by case, with intervals and tests.",
      "voxswap report");
  CommonOptions common;
  std::vector<std::string> folders;
  std::string out;
  app.add_option("RUN_DIR", folders, "Folders of finished runs or sweeps")->required();
  app.add_option("--out", out, "Folder for the report (default: that of the run, or ./report for several)");
  ReportOptions options;
  app.add_flag("--ensembles", options.ensembles, "Also predict and rank the ensemble of every two models");
  CLI::Option* figures = app.add_option("--figures", options.figures,
                                        "Folder for figures of a paper (SVG and PDF), and methods.md");
  app.add_option("--width", "Width of these figures (default: 89mm)")
      ->type_name("TEXT")
      ->needs(figures)
      ->check([&](const std::string& text) { return read_width(text, options.figure_width); });
  add_force(app, options.force);
  add_common(app, common, true);
  if (!parse(app, arguments, common)) return Exit::done;

  if (out.empty()) out = folders.size() == 1 ? folders[0] : "report";
  const BestModel best = voxswap::report(folders, out, options);
  const std::string page = (fs::path(out) / "report.html").string();
  if (common.json) {
    Json json = {{"report", page}, {"best", best_json(best)}};
    if (!options.figures.empty()) json["figures"] = options.figures;
    print_exactly(json.dump(2) + "\n");
    return Exit::done;
  }
  if (!best.finding.empty()) print("{}\n", best.finding);
  if (!best.next.empty()) {
    print("{}\n", best.words);
    if (!best.command.empty()) print("Predict with it: {}\n", best.command);
  }
  print("{}\n", page);
  if (!options.figures.empty()) print("{}\n", options.figures);
  return Exit::done;
}

}  // namespace voxswap::cli
