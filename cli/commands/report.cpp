// voxswap report: compares finished runs.
#include "voxswap/report.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/file.h"
#include "cli/options.h"

namespace voxswap::cli {

Exit report_command(const Arguments& arguments) {
  CLI::App app(
      "Compare finished runs in CSV files, plots and one page, report.html. Runs that differ only in name "
      "and "
      "seed are repeats of one model; other runs are compared case by case, with intervals and tests.",
      "voxswap report");
  CommonOptions common;
  std::vector<std::string> folders;
  std::string out;
  app.add_option("RUN_DIR", folders, "Folders of finished runs")->required();
  app.add_option("--out", out, "Folder for the report (default: the run's own, or ./report for several)");
  bool force = false;
  add_force(app, force);
  add_common(app, common);
  if (!parse(app, arguments, common)) return Exit::done;

  if (out.empty()) out = folders.size() == 1 ? folders[0] : "report";
  voxswap::report(folders, out, force);
  std::printf("%s\n", (fs::path(out) / "report.html").string().c_str());
  return Exit::done;
}

}  // namespace voxswap::cli
