#include "pipeline/sweep/sweep_output.h"

#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/filesystem.h"
#include "base/log.h"
#include "pipeline/report/drawing.h"
#include "pipeline/report/gnuplot.h"
#include "pipeline/report/report.h"
#include "pipeline/sweep/sweep_page.h"
#include "pipeline/sweep/sweep_plot.h"

namespace voxswap::pipeline {

void write_sweep_results(const SweepResults& results, const fs::path& out,
                         const ReadSettings& read_settings) {
  const Csv figures = result_table(results);
  write_csv(out / "sweep.csv", results.command == "run" ? dice_table_of_cells(results) : figures);
  if (!results.published.rows.empty()) write_csv(out / "published.csv", results.published);
  Exit problem = Exit::done;
  std::string what;
  const auto attempt = [&](const auto& work) {
    try {
      work();
    } catch (const NoGnuplot& error) {
      log::warn("{}: {}", out.string(), error.what());
    } catch (const Error& error) {  // the tables are still worth having
      problem = error.exit();
      what = error.what();
    }
  };
  Picture plot;
  if (!results.plot.y.empty()) attempt([&] { plot = sweep_plot(figures, results.plot); });
  error_code absent;
  for (const char* name : {"sweep.svg", "sweep.png"}) fs::remove(out / name, absent);
  if (!plot.svg.empty()) {
    write_file(out / "sweep.svg", plot.svg);
    write_file(out / "sweep.png", plot.png);
  }
  const std::string section = sweep_section(results, figures, plot);
  const fs::path page = out / "report.html";
  fs::remove(page, absent);  // an earlier one is not of these results
  if (results.command == "run") {
    std::vector<fs::path> folders;
    for (const CellResult& cell : results.cells) folders.push_back(cell.folder);
    attempt([&] { report(folders, out, read_settings, {results.title, section}); });
  }
  if (!fs::exists(page)) write_file(page, sweep_page(results, section));
  if (problem != Exit::done) throw Error(problem, what);
}

}  // namespace voxswap::pipeline
