#include "pipeline/sweep/sweep_results.h"

#include <map>

#include "base/json.h"
#include "pipeline/report/comparison.h"
#include "pipeline/report/lists.h"

namespace voxswap::pipeline {

namespace {

using Figures = std::vector<std::pair<std::string, std::string>>;  // name and value, in order

std::string text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return std::to_string(value.get<std::int64_t>());
  if (value.is_number()) return number(value.get<double>());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  return "nan";  // null: no value
}

// The scalars in the JSON file written by the cell's command.
Figures figures_of_file(const fs::path& folder) {
  Figures figures;
  for (const char* name : {"bench.json", "forecast.json", "largest.json"}) {
    if (!fs::exists(folder / name)) continue;
    Json json = parse_json(read_file(folder / name));
    if (json.is_array() && !json.empty()) json = json[0];
    if (!json.is_object()) fail(Exit::bad_data, "{}: is not a JSON object", (folder / name).string());
    // The searched dimension is already in the column `largest`.
    for (const auto& [key, value] : json.items())
      if (!value.is_structured()) figures.emplace_back(key == "largest" ? "size" : key, text_of(value));
  }
  return figures;
}

std::vector<BoxRow> dice_boxes(const std::vector<DiceRow>& rows) {
  std::vector<BoxRow> boxes = box_rows(rows);
  std::erase_if(boxes, [](const BoxRow& box) { return box.metric != "dice"; });
  return boxes;
}

// On the first grid of the experiment: mean Dice over regions of the mean over cases, and each region.
Figures dice_figures(const fs::path& folder) {
  const std::vector<DiceRow> rows = rows_in<DiceRow>(folder / "dice.csv");
  Figures figures;
  double sum = 0;
  for (const BoxRow& box : dice_boxes(rows)) {
    if (box.evaluated_at != rows[0].evaluated_at) continue;
    figures.emplace_back("dice_" + box.region, number(box.statistics.mean));
    sum += box.statistics.mean;
  }
  if (!figures.empty())
    figures.insert(figures.begin(), {"dice", number(sum / static_cast<double>(figures.size()))});
  return figures;
}

// Columns of timing.csv, averaged over the repeats.
Figures timing_figures(const fs::path& folder) {
  Figures figures;
  const fs::path file = folder / "timing.csv";
  if (!fs::exists(file)) return figures;
  const Csv csv = read_csv(file);
  for (std::size_t column = 0; column < csv.header.size(); ++column) {
    double sum = 0;
    bool numeric = !csv.rows.empty();
    for (const auto& row : csv.rows) {
      const auto value = parse_number<double>(row[column]);
      numeric = numeric && value;
      sum += value.value_or(0);
    }
    if (numeric && csv.header[column] != "run" && csv.header[column] != "resolution")
      figures.emplace_back(csv.header[column], number(sum / static_cast<double>(csv.rows.size())));
  }
  return figures;
}

Figures epoch_figures(const Figures& of_step, double steps) {
  for (const auto& [name, value] : of_step)
    if (steps > 0 && (name == "step_seconds_median" || name == "simulated_step_seconds"))
      return {{"epoch_seconds", number(steps * std::stod(value))}};
  return {};
}

Figures figures_of(const SweepResults& results, const CellResult& cell) {
  Figures figures = {{"megavoxels", number(cell.megavoxels)}};
  if (cell.stopped) return figures;
  if (results.command == "run") {
    append(figures, dice_figures(cell.folder));
    append(figures, timing_figures(cell.folder));
  } else if (cell.fits) {
    append(figures, figures_of_file(cell.folder));
    append(figures, epoch_figures(figures, cell.steps_per_epoch));
  }
  return figures;
}

std::vector<std::string> first_columns(const SweepResults& results) {
  std::vector<std::string> header = {"cell"};
  append(header, results.columns);
  return header;
}

std::vector<std::string> first_fields(const CellResult& cell) {
  std::vector<std::string> fields = {cell.name};
  append(fields, cell.values);
  return fields;
}

}  // namespace

Csv result_table(const SweepResults& results) {
  Csv csv;
  csv.header = first_columns(results);
  csv.header.push_back("fits");
  const std::size_t given = csv.header.size();
  std::vector<Figures> all;
  for (const CellResult& cell : results.cells) {
    all.push_back(figures_of(results, cell));
    for (const auto& [name, value] : all.back()) place_in(csv.header, name);
  }
  csv.header.push_back("why_not");
  for (std::size_t i = 0; i < results.cells.size(); ++i) {
    const CellResult& cell = results.cells[i];
    std::vector<std::string> fields = first_fields(cell);
    fields.push_back(cell.fits ? "yes" : "no");
    std::map<std::string, std::string> values(all[i].begin(), all[i].end());
    for (std::size_t column = given; column + 1 < csv.header.size(); ++column) {
      const auto found = values.find(csv.header[column]);
      fields.push_back(found == values.end() ? "nan" : found->second);
    }
    fields.push_back(cell.why_not);
    csv.rows.push_back(std::move(fields));
  }
  return csv;
}

const std::vector<CsvColumn>& cell_columns() {
  static const std::vector<CsvColumn> columns = {
      {"cell", "name of the cell"},
      {"evaluated_at", "grid of the scores: native, training or a side"},
      {"region", "label or region"},
      {"n", "cases with a score"},
      {"mean", "mean Dice over the cases"},
      {"sd", "standard deviation (n - 1) of Dice over the cases; 0 for one case"},
      {"median", "median Dice"}};
  return columns;
}

Csv dice_table_of_cells(const SweepResults& results) {
  Csv csv;
  csv.header = first_columns(results);
  const std::vector<std::string> scores = header_of(cell_columns());
  csv.header.insert(csv.header.end(), scores.begin() + 1, scores.end());
  for (const CellResult& cell : results.cells) {
    for (const BoxRow& box : dice_boxes(rows_in<DiceRow>(cell.folder / "dice.csv"))) {
      const metrics::BoxStatistics& of = box.statistics;
      csv.rows.push_back(first_fields(cell));
      append(csv.rows.back(), {box.evaluated_at, box.region, std::to_string(of.n), number(of.mean),
                               number(of.sd), number(of.median)});
    }
  }
  return csv;
}

std::string best_cell(const SweepResults& results) {
  std::string best;
  double most = -1;
  for (const CellResult& cell : results.cells) {
    const Figures figures = dice_figures(cell.folder);
    const double dice = figures.empty() ? -1 : std::stod(figures[0].second);
    if (dice > most) {
      most = dice;
      best = cell.name;
    }
  }
  return best;
}

}  // namespace voxswap::pipeline
