#include "pipeline/sweep/sweep_output.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/keys.h"
#include "base/log.h"
#include "base/own_folder.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xml.h"
#include "pipeline/report/gnuplot.h"
#include "pipeline/report/html.h"
#include "pipeline/report/page.h"
#include "pipeline/report/report.h"
#include "pipeline/report/tables.h"

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
    } catch (const Error& error) {  // the tables are still useful
      problem = error.exit();
      what = error.what();
    }
  };
  Picture plot;
  if (!results.plot.y.empty()) attempt([&] { plot = sweep_plot(figures, results.plot); });
  for (const char* name : {"sweep.svg", "sweep.png"}) remove_own(out / name);
  if (!plot.svg.empty()) {
    write_file(out / "sweep.svg", plot.svg);
    write_file(out / "sweep.png", plot.png);
  }
  const std::string section = sweep_section(results, figures, plot);
  const fs::path page = out / "report.html";
  remove_own(page);  // an earlier page does not describe these results
  if (results.command == "run") {
    std::vector<fs::path> folders;
    for (const CellResult& cell : results.cells) folders.push_back(cell.folder);
    attempt([&] { report(folders, out, read_settings, {results.title, section}); });
  }
  if (!fs::exists(page)) write_file(page, sweep_page(results, section));
  if (problem != Exit::done) throw Error(problem, what);
}

namespace {

// Columns shown in the report; sweep.csv and timing.csv have all.
const std::vector<std::string> worth_showing = {"dice",
                                                "size",
                                                "next",
                                                "predicted_step_seconds",
                                                "simulated_step_seconds",
                                                "step_seconds_median",
                                                "bound_step_seconds",
                                                "epoch_seconds",
                                                "epoch_seconds_mean",
                                                "overhead",
                                                "utilization",
                                                "stall_seconds",
                                                "to_host_gbps",
                                                "to_device_gbps",
                                                "swapped_out_bytes",
                                                "swapped_in_bytes",
                                                "recomputed_nodes",
                                                "device_peak_bytes",
                                                "host_bytes"};

bool is_shown(const SweepResults& results, const std::string& column) {
  const auto among = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), column) != names.end();
  };
  return among(worth_showing) || among(results.columns) || among(results.plot.by) ||
         column.starts_with("dice_") || column == results.plot.x || column == results.plot.y;
}

std::string cell_text(const std::string& column, const std::string& value) {
  if (value == "nan" || value.empty()) return "-";
  if (column.ends_with("_bytes") && value.find_first_not_of("0123456789") == value.npos)
    return format_bytes(std::stoll(value));
  // Such measurements are not accurate to more than four digits.
  const bool decimal = value.find('.') != value.npos && value.find_first_not_of("-0123456789.") == value.npos;
  return decimal ? format("{:.4g}", std::stod(value)) : value;
}

// True if the column has no information in any row.
bool is_blank(const Csv& figures, std::size_t column) {
  return std::all_of(figures.rows.begin(), figures.rows.end(), [&](const auto& row) {
    const std::string text = cell_text(figures.header[column], row[column]);
    return text == "-" || text == "0" || text == "0 B";
  });
}

// Varied columns first, then the plotted one, then all others.
std::vector<std::size_t> shown_columns(const SweepResults& results, const Csv& figures) {
  std::vector<std::size_t> shown;
  for (std::size_t i = 1; i < figures.header.size(); ++i) {
    const bool varied = i <= results.columns.size();
    if (varied || (is_shown(results, figures.header[i]) && !is_blank(figures, i))) shown.push_back(i);
  }
  std::stable_partition(shown.begin(), shown.end(), [&](std::size_t i) {
    return i <= results.columns.size() || figures.header[i] == results.plot.y;
  });
  return shown;
}

std::string figures_table(const SweepResults& results, const Csv& figures) {
  const auto fits = static_cast<std::size_t>(std::find(figures.header.begin(), figures.header.end(), "fits") -
                                             figures.header.begin());
  Rows rows(1);
  const std::vector<std::size_t> shown = shown_columns(results, figures);
  for (const std::size_t i : shown) rows[0].push_back(heading_of(figures.header[i]));
  for (const auto& row : figures.rows) {
    auto& fields = rows.emplace_back();
    for (const std::size_t i : shown) fields.push_back(cell_text(figures.header[i], row[i]));
    const std::string without_figures = row[fits] == "no" ? "does not fit" : row.back();
    if (!without_figures.empty() && fields.size() > results.columns.size())
      fields[results.columns.size()] = without_figures;
  }
  return table_section(rows, results.command == "run" ? "cells.csv" : "sweep.csv", figures);
}

std::string halving_section(const std::vector<HalvingRow>& halving) {
  if (halving.empty()) return "";
  const Csv csv = csv_of(halving);
  Rows rows(1);
  for (const std::string& name : csv.header) rows[0].push_back(heading_of(name));
  for (const auto& row : csv.rows) {
    auto& fields = rows.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) fields.push_back(cell_text(csv.header[i], row[i]));
  }
  return html_section("halving", "Successive halving",
                      "<p>Which cells continued after each round. Stopped cells have no scores and are in no "
                      "comparison.</p>\n" +
                          table_section(rows, "halving.csv", csv));
}

}  // namespace

void write_halving(const SweepResults& results, const fs::path& out) {
  remove_own(out / "halving.csv");
  if (!results.halving.empty()) write_csv(out / "halving.csv", csv_of(results.halving));
}

std::string sweep_section(const SweepResults& results, const Csv& figures, const Picture& plot) {
  std::string table = figures_table(results, figures);
  if (results.command == "plan")
    table += "<p>Planned and simulated, not measured. Column costs of sweep.csv gives their source.</p>\n";
  for (const std::string& failure : results.failures)
    table += "<p class=\"note\">Missing: " + xml_escaped(failure) + "</p>\n";
  const std::string figure = plot.svg.empty() ? "" : html_figure(inline_svg(plot.svg, "sweep"), "");
  std::string html = html_section("sweep", "Comparison", html_beside(figure, table));
  html += halving_section(results.halving);
  if (!results.published.rows.empty()) {
    Rows rows(1);
    for (const std::string& name : results.published.header) rows[0].push_back(heading_of(name));
    rows.insert(rows.end(), results.published.rows.begin(), results.published.rows.end());
    html += html_section("published", "Published results",
                         table_section(rows, "published.csv", results.published));
  }
  return html;
}

Picture sweep_plot(const Csv& figures, const ChartColumns& plot) {
  std::vector<std::string> by, all = plot.by;
  all.insert(all.begin(), {plot.x, plot.y});
  for (const std::string& name : all)
    if (std::find(figures.header.begin(), figures.header.end(), name) == figures.header.end())
      fail(Exit::usage, "{}: the results have no column '{}'. They have {}", key::sweep_plot, name,
           join(figures.header, ", "));
  for (const std::string& name : plot.by) by.push_back(heading_of(name));
  Figure figure;
  figure.title = heading_of(plot.y) + (by.empty() ? "" : " by " + join(by, " and "));
  figure.heading = figure.title;
  figure.width = std::clamp(100 + 34 * static_cast<int>(figures.rows.size()), 640, 1400);
  const bool any = add_chart(figure, figures, plot, {.title = "", .height = 324}, heading_of(plot.x));
  return any ? figure.draw() : Picture{};  // empty, for example, if a search found no size that fits
}

std::string sweep_page(const SweepResults& results, const std::string& section) {
  return html_page(results.title, "<h1>" + xml_escaped(results.title) + "</h1>\n" + section);
}

}  // namespace voxswap::pipeline
