#include "pipeline/sweep/sweep_output.h"

#include <algorithm>
#include <numeric>

#include "base/keys.h"
#include "base/log.h"
#include "base/own_folder.h"
#include "base/units.h"
#include "base/xml.h"
#include "pipeline/report/html.h"
#include "pipeline/report/report.h"

namespace voxswap::pipeline {

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
  return is_among(column, worth_showing) || is_among(column, results.columns) ||
         is_among(column, results.plot.by) || column.starts_with("dice_") || column == results.plot.x ||
         column == results.plot.y;
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
  return std::ranges::all_of(figures.rows, [&](const auto& row) {
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

// These columns of a table, under readable headings.
Rows displayed(const Csv& table, const std::vector<std::size_t>& columns) {
  Rows rows(1);
  for (const std::size_t i : columns) rows[0].push_back(heading_of(table.header[i]));
  for (const auto& row : table.rows) {
    auto& fields = rows.emplace_back();
    for (const std::size_t i : columns) fields.push_back(cell_text(table.header[i], row[i]));
  }
  return rows;
}

std::string figures_table(const SweepResults& results, const Csv& figures) {
  const std::size_t fits = figures.column("fits", "sweep.csv"), first = results.columns.size();
  Rows rows = displayed(figures, shown_columns(results, figures));
  for (std::size_t i = 0; i < figures.rows.size(); ++i) {
    const auto& row = figures.rows[i];
    const std::string without_figures = row[fits] == "no" ? "does not fit" : row.back();
    if (!without_figures.empty() && rows[i + 1].size() > first) rows[i + 1][first] = without_figures;
  }
  return table_section(rows, results.command == "run" ? "cells.csv" : "sweep.csv", figures);
}

std::string halving_section(const std::vector<HalvingRow>& halving) {
  if (halving.empty()) return "";
  const Csv csv = csv_of(halving);
  std::vector<std::size_t> all(csv.header.size());
  std::iota(all.begin(), all.end(), 0);
  return html_section("halving", "Successive halving",
                      "<p>Which cells continued after each round. Stopped cells have no scores and are in no "
                      "comparison.</p>\n" +
                          table_section(displayed(csv, all), "halving.csv", csv));
}

// A sweep's section of the report: its plot, its table, decisions of successive halving, and published
// results for comparison.
std::string sweep_section(const SweepResults& results, const Csv& figures, const Picture& plot) {
  std::string table = figures_table(results, figures);
  if (results.command == "plan")
    table += "<p>Planned and simulated, not measured. Column costs of sweep.csv gives their source.</p>\n";
  for (const std::string& failure : results.failures) table += html_notes({"Missing: " + failure});
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

}  // namespace

void write_halving(const SweepResults& results, const fs::path& out) {
  remove_own(out / "halving.csv");
  if (!results.halving.empty()) write_csv(out / "halving.csv", csv_of(results.halving));
}

Picture sweep_plot(const Csv& figures, const ChartColumns& plot) {
  std::vector<std::string> by, all = plot.by;
  all.insert(all.begin(), {plot.x, plot.y});
  for (const std::string& name : all)
    if (!is_among(name, figures.header))
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
  if (!fs::exists(page))
    write_file(page, html_page(results.title, "<h1>" + xml_escaped(results.title) + "</h1>\n" + section));
  if (problem != Exit::done) throw Error(problem, what);
}

}  // namespace voxswap::pipeline
