// voxswap report: compares finished runs.
#include "voxswap/report.h"

#include <CLI/CLI.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/standard_streams.h"
#include "cli/options.h"

namespace voxswap::cli {

namespace {

Json best_json(const BestModel& best) {
  if (best.name.empty()) return nullptr;
  Json json = {{"name", best.name},       {"ensemble", best.ensemble}, {"dice", best.dice},
               {"cases", best.cases},     {"next", nullptr},           {"runs", best.runs},
               {"command", best.command}, {"words", best.words}};
  if (!best.next.empty())
    json["next"] = {{"name", best.next},
                    {"behind", best.lead},
                    {"interval_low", best.lead_low},
                    {"interval_high", best.lead_high}};
  return json;
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
  add_force(app, options.force);
  add_common(app, common, true);
  if (!parse(app, arguments, common)) return Exit::done;

  if (out.empty()) out = folders.size() == 1 ? folders[0] : "report";
  const BestModel best = voxswap::report(folders, out, options);
  const std::string page = (fs::path(out) / "report.html").string();
  if (common.json) {
    print_exactly(Json{{"report", page}, {"best", best_json(best)}}.dump(2) + "\n");
    return Exit::done;
  }
  if (!best.next.empty()) {
    print("{}\n", best.words);
    if (!best.command.empty()) print("Predict with it: {}\n", best.command);
  }
  print("{}\n", page);
  return Exit::done;
}

}  // namespace voxswap::cli
