#include "pipeline/report/tables.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/units.h"
#include "metrics/metrics.h"

namespace voxswap::pipeline {

namespace {

template <class Row>
Csv to_csv(const std::vector<Row>& rows, const std::vector<Column<Row>>& columns) {
  Csv csv;
  for (const auto& column : columns) csv.header.push_back(column.name);
  for (const Row& row : rows) {
    auto& fields = csv.rows.emplace_back();
    for (const auto& column : columns) fields.push_back(column.write(row));
  }
  return csv;
}

template <class Row>
void read_field(const Csv& csv, std::size_t record, std::size_t place, const Column<Row>& column, Row& row,
                const std::string& where) {
  const std::string& field = csv.rows[record][place];
  const std::string expected = column.read(row, field);
  if (expected.empty()) return;
  fail(Exit::bad_data, "{}: record {}: column '{}' should be {}, found '{}'", where, record + 1, column.name,
       expected, field);
}

template <class Row>
std::vector<Row> from_csv(const Csv& csv, const std::vector<Column<Row>>& columns, const std::string& where) {
  std::vector<std::size_t> places;
  for (const auto& column : columns) places.push_back(csv.column(column.name, where));
  std::vector<Row> rows(csv.rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t c = 0; c < columns.size(); ++c)
      read_field(csv, i, places[c], columns[c], rows[i], where);
  }
  return rows;
}

// A column to the right of the others where any row has a number there.
template <class Row>
void add_column(Csv& csv, const std::vector<Row>& rows, const Column<Row>& column, double Row::*member) {
  if (std::all_of(rows.begin(), rows.end(), [&](const Row& row) { return std::isnan(row.*member); })) return;
  csv.header.push_back(column.name);
  for (std::size_t i = 0; i < rows.size(); ++i) csv.rows[i].push_back(column.write(rows[i]));
}

// The way back, where the table has it.
template <class Row>
void read_column(const Csv& csv, std::vector<Row>& rows, const Column<Row>& column,
                 const std::string& where) {
  if (std::find(csv.header.begin(), csv.header.end(), column.name) == csv.header.end()) return;
  const std::size_t place = csv.column(column.name, where);
  for (std::size_t i = 0; i < rows.size(); ++i) read_field(csv, i, place, column, rows[i], where);
}

// The metrics that have a column of the contract.
double DiceRow::*contract_column(const std::string& metric) {
  if (metric == "dice") return &DiceRow::dice;
  if (metric == "hd95") return &DiceRow::hd95;
  if (metric == "sensitivity") return &DiceRow::sensitivity;
  if (metric == "specificity") return &DiceRow::specificity;
  return nullptr;
}

// The metrics without one that any row has, in the order of the table of metrics.
std::vector<std::string> further_metrics(const std::vector<DiceRow>& rows) {
  std::vector<std::string> names = metrics::metric_names();
  std::erase_if(names, [&](const std::string& name) {
    return std::none_of(rows.begin(), rows.end(),
                        [&](const DiceRow& row) { return row.further.contains(name); });
  });
  return names;
}

std::string outliers_text(const std::vector<double>& outliers) {
  std::vector<std::string> parts;
  for (double value : outliers) parts.push_back(number(value));
  return join(parts, ";");
}

}  // namespace

Csv epochs_csv(const std::vector<EpochRow>& rows) {
  Csv csv = to_csv(rows, epoch_columns());
  add_column(csv, rows, averaged_loss_column(), &EpochRow::averaged_validation_loss);
  return csv;
}
Csv validation_csv(const std::vector<ValidationRow>& rows) {
  Csv csv = to_csv(rows, validation_columns());
  add_column(csv, rows, averaged_dice_column(), &ValidationRow::averaged_dice);
  return csv;
}
Csv dice_csv(const std::vector<DiceRow>& rows) {
  Csv csv = to_csv(rows, dice_columns());
  for (const std::string& metric : further_metrics(rows)) {
    csv.header.push_back(metric);
    for (std::size_t i = 0; i < rows.size(); ++i)
      csv.rows[i].push_back(number(metric_value(rows[i], metric)));
  }
  return csv;
}
Csv timing_csv(const std::vector<TimingRow>& rows) {
  return to_csv(rows, timing_columns());
}
Csv memory_csv(const std::vector<MemoryRow>& rows) {
  return to_csv(rows, memory_columns());
}
Csv phases_csv(const std::vector<PhaseRow>& rows) {
  return to_csv(rows, phase_columns());
}

Csv boxplot_csv(const std::vector<BoxRow>& rows) {
  Csv csv;
  csv.header = header_of(boxplot_columns());
  const bool settings =
      std::any_of(rows.begin(), rows.end(), [](const BoxRow& row) { return !row.setting.empty(); });
  if (!settings) csv.header.pop_back();
  for (const BoxRow& row : rows) {
    const metrics::BoxStatistics& box = row.statistics;
    csv.rows.push_back({row.resolution, row.evaluated_at, row.region, row.metric, std::to_string(box.n),
                        std::to_string(box.nan), number(box.mean), number(box.sd), number(box.minimum),
                        number(box.q1), number(box.median), number(box.q3), number(box.maximum),
                        number(box.whisker_low), number(box.whisker_high), outliers_text(box.outliers)});
    if (settings) csv.rows.back().push_back(row.setting);
  }
  return csv;
}

std::vector<EpochRow> epoch_rows(const Csv& csv, const std::string& where) {
  std::vector<EpochRow> rows = from_csv(csv, epoch_columns(), where);
  read_column(csv, rows, averaged_loss_column(), where);
  return rows;
}
std::vector<ValidationRow> validation_rows(const Csv& csv, const std::string& where) {
  std::vector<ValidationRow> rows = from_csv(csv, validation_columns(), where);
  read_column(csv, rows, averaged_dice_column(), where);
  return rows;
}
std::vector<DiceRow> dice_rows(const Csv& csv, const std::string& where) {
  std::vector<Column<DiceRow>> columns = dice_columns();
  for (const metrics::Metric& metric : metrics::metrics()) {
    const std::string name = metric.name;
    if (contract_column(name) || std::find(csv.header.begin(), csv.header.end(), name) == csv.header.end())
      continue;
    columns.push_back(further_column(metric));
  }
  return from_csv(csv, columns, where);
}

double metric_value(const DiceRow& row, const std::string& metric) {
  if (const auto column = contract_column(metric)) return row.*column;
  const auto found = row.further.find(metric);
  return found == row.further.end() ? DiceRow::not_asked_for : found->second;
}

void set_metric(DiceRow& row, const std::string& metric, double value) {
  (contract_column(metric) ? row.*contract_column(metric) : row.further[metric]) = value;
}
std::vector<TimingRow> timing_rows(const Csv& csv, const std::string& where) {
  return from_csv(csv, timing_columns(), where);
}

std::vector<MemoryRow> memory_rows(const Csv& csv, const std::string& where) {
  const auto has = [&](const char* name) {
    return std::find(csv.header.begin(), csv.header.end(), name) != csv.header.end();
  };
  std::vector<Column<MemoryRow>> columns = memory_columns();
  for (const char* later : {"host_budget_bytes", "budget_bytes"})
    if (!has(later)) columns.pop_back();  // a run of an earlier version
  return from_csv(csv, columns, where);
}

std::vector<PhaseRow> phase_rows(const Csv& csv, const std::string& where) {
  return from_csv(csv, phase_columns(), where);
}

std::string resolution_text(const std::array<std::int64_t, 3>& size) {
  if (size[0] == size[1] && size[1] == size[2]) return std::to_string(size[0]);
  if (size[2] == 1) return format("{}x{}", size[0], size[1]);
  return format("{}x{}x{}", size[0], size[1], size[2]);
}

double resolution_voxels(const std::string& resolution) {
  const std::vector<std::string> sides = split(resolution, 'x');
  double voxels = 1;
  for (const std::string& side : sides) {
    const auto extent = parse_number<double>(side);
    if (!extent) return std::numeric_limits<double>::infinity();
    voxels *= *extent;
  }
  return sides.size() == 1 ? voxels * voxels * voxels : voxels;
}

const std::vector<CsvColumn>& calibration_columns() {
  static const std::vector<CsvColumn> columns = {
      {"run", "name of the run"},
      {"repeat", "repeat, counted from 1"},
      {"resolution", "voxels of a prepared volume: 128 or 48x64x48"},
      {"case", "name of the case"},
      {"output", "output: a label or region"},
      {"voxels", "voxels of the training grid that count"},
      {"ece", "expected calibration error over 15 bins of equal width"},
      {"mce", "maximum calibration error of these bins"},
      {"brier", "Brier score: mean squared error of the probabilities"},
      {"log_loss", "mean negative log likelihood"}};
  return columns;
}

namespace {

template <class Number>
Number number_in(const std::string& field, const std::string& column, const std::string& where) {
  const auto value = parse_number<Number>(field);
  if (!value || *value < 0)
    fail(Exit::bad_data, "{}: {}: expected a number of at least 0, found '{}'", where, column, field);
  return *value;
}

}  // namespace

void set_scores(CalibrationRow& row, const metrics::Calibration& found) {
  row.voxels = found.voxels();
  row.expected_error = found.expected_error();
  row.maximum_error = found.maximum_error();
  row.brier = found.brier();
  row.log_loss = found.log_loss();
}

Csv calibration_csv(const std::vector<CalibrationRow>& rows) {
  Csv csv{header_of(calibration_columns()), {}};
  for (const CalibrationRow& row : rows)
    csv.rows.push_back({row.run, std::to_string(row.repeat), row.resolution, row.case_id, row.output,
                        std::to_string(row.voxels), number(row.expected_error), number(row.maximum_error),
                        number(row.brier), number(row.log_loss)});
  return csv;
}

std::vector<CalibrationRow> calibration_rows(const Csv& csv, const std::string& where) {
  std::vector<std::size_t> at;
  const std::vector<CsvColumn>& columns = calibration_columns();
  for (const CsvColumn& column : columns) at.push_back(csv.column(column.name, where));
  std::vector<CalibrationRow> rows;
  for (const auto& fields : csv.rows) {
    const auto whole = [&](std::size_t c) {
      return number_in<std::int64_t>(fields[at[c]], columns[c].name, where);
    };
    const auto real = [&](std::size_t c) { return number_in<double>(fields[at[c]], columns[c].name, where); };
    rows.push_back({fields[at[0]], whole(1), fields[at[2]], fields[at[3]], fields[at[4]], whole(5), real(6),
                    real(7), real(8), real(9)});
  }
  return rows;
}

}  // namespace voxswap::pipeline
