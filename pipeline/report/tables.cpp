// Every table is one list of columns, so that header, order, writing and reading cannot drift apart.
#include "pipeline/report/tables.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/error.h"
#include "base/parse_number.h"
#include "metrics/metrics.h"

namespace voxswap::pipeline {

namespace {

template <class Number>
bool parse(const std::string& text, Number& value) {
  const auto read = parse_number<Number>(text);
  if (read) value = *read;
  return read.has_value();
}

// Clocks are not finer, and the digits behind would only be noise. Adding 0 turns -0 into 0.
double to_microseconds(double seconds) {
  return std::round(seconds * 1e6) / 1e6 + 0.0;
}

template <class Row>
struct Column {
  std::string name;
  std::function<std::string(const Row&)> write;
  std::function<std::string(Row&, const std::string&)> read;  // what the field should be; empty: it is that
};

struct Range {
  double least, most;
};
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Range any{-infinity, infinity}, not_negative{0, infinity}, share{0, 1};

std::string number_in(const Range& range) {
  if (range.most == infinity)
    return range.least == -infinity ? "a number" : format("a number of {} or more", number(range.least));
  return format("a number from {} to {}, or nan", number(range.least), number(range.most));
}

std::string read_real(double& value, const std::string& field, const Range& range) {
  if (!parse(field, value)) return "a number";
  return value < range.least || value > range.most ? number_in(range) : "";
}

// Infinite is no score: a distance to nothing is nan, or what the rule for empty regions says.
std::string read_score(const metrics::Metric& metric, double& value, const std::string& field) {
  const std::string expected = read_real(value, field, {metric.least, metric.most});
  return expected.empty() && std::isinf(value) ? "a finite number or nan" : expected;
}

template <class Row>
Column<Row> text(const char* name, std::string Row::*member) {
  return {name, [=](const Row& row) { return row.*member; },
          [=](Row& row, const std::string& field) {
            row.*member = field;
            return std::string();
          }};
}

template <class Row>
Column<Row> count(const char* name, std::int64_t Row::*member, std::int64_t least = 0) {
  return {name, [=](const Row& row) { return std::to_string(row.*member); },
          [=](Row& row, const std::string& field) {
            if (!parse(field, row.*member)) return std::string("a number");
            return row.*member < least ? format("a whole number of {} or more", least) : "";
          }};
}

template <class Row>
Column<Row> real(const char* name, double Row::*member, Range range = any) {
  return {name, [=](const Row& row) { return number(row.*member); },
          [=](Row& row, const std::string& field) { return read_real(row.*member, field, range); }};
}

// Of a metric: what it cannot be, no table of results holds.
template <class Row>
Column<Row> score(const metrics::Metric& metric, double Row::*member) {
  return {metric.name, [=](const Row& row) { return number(row.*member); },
          [&metric, member](Row& row, const std::string& field) {
            return read_score(metric, row.*member, field);
          }};
}

template <class Row>
Column<Row> seconds(const char* name, double Row::*member) {
  return {name, [=](const Row& row) { return number(to_microseconds(row.*member)); },
          [=](Row& row, const std::string& field) { return read_real(row.*member, field, not_negative); }};
}

// Columns that not every table has.
constexpr const char *averaged_loss = "averaged_validation_loss", *averaged_dice = "averaged_dice";

const std::vector<Column<EpochRow>>& epoch_columns() {
  using Row = EpochRow;
  static const std::vector<Column<Row>> columns = {
      text("run", &Row::run),
      count("repeat", &Row::repeat, 1),
      text("resolution", &Row::resolution),
      count("epoch", &Row::epoch, 1),
      seconds("seconds", &Row::seconds),
      real("train_loss", &Row::train_loss),
      real("validation_loss", &Row::validation_loss),
      real("learning_rate", &Row::learning_rate, not_negative),
      real("megavoxels_per_second", &Row::megavoxels_per_second, not_negative),
      seconds("wait_seconds", &Row::wait_seconds),
      seconds("stall_seconds", &Row::stall_seconds),
      count("swapped_out_bytes", &Row::swapped_out_bytes),
      count("swapped_in_bytes", &Row::swapped_in_bytes),
      count("recomputed_nodes", &Row::recomputed_nodes),
      count("device_peak_bytes", &Row::device_peak_bytes),
      count("host_peak_bytes", &Row::host_peak_bytes),
  };
  return columns;
}

const std::vector<Column<ValidationRow>>& validation_columns() {
  using Row = ValidationRow;
  static const std::vector<Column<Row>> columns = {
      text("run", &Row::run),
      count("repeat", &Row::repeat, 1),
      text("resolution", &Row::resolution),
      count("epoch", &Row::epoch, 1),
      seconds("trained_seconds", &Row::trained_seconds),
      text("region", &Row::region),
      real("dice", &Row::dice, share),
  };
  return columns;
}

const std::vector<Column<DiceRow>>& dice_columns() {
  using Row = DiceRow;
  static const std::vector<Column<Row>> columns = {
      text("run", &Row::run),
      count("repeat", &Row::repeat, 1),
      text("resolution", &Row::resolution),
      text("evaluated_at", &Row::evaluated_at),
      text("case", &Row::case_id),
      text("region", &Row::region),
      score(metrics::metric("dice"), &Row::dice),
      score(metrics::metric("hd95"), &Row::hd95),
      score(metrics::metric("sensitivity"), &Row::sensitivity),
      score(metrics::metric("specificity"), &Row::specificity),
      count("truth_voxels", &Row::truth_voxels),
      count("predicted_voxels", &Row::predicted_voxels),
  };
  return columns;
}

const std::vector<Column<TimingRow>>& timing_columns() {
  using Row = TimingRow;
  static const std::vector<Column<Row>> columns = {
      text("run", &Row::run),
      text("resolution", &Row::resolution),
      text("device", &Row::device),
      text("planner", &Row::planner),
      count("budget_bytes", &Row::budget_bytes),
      real("link_to_host_gbps", &Row::link_to_host_gbps, not_negative),
      real("link_to_device_gbps", &Row::link_to_device_gbps, not_negative),
      seconds("epoch_seconds_mean", &Row::epoch_seconds_mean),
      seconds("step_seconds_median", &Row::step_seconds_median),
      seconds("predicted_step_seconds", &Row::predicted_step_seconds),
      seconds("bound_step_seconds", &Row::bound_step_seconds),
      real("overhead", &Row::overhead, not_negative),
      real("utilization", &Row::utilization, not_negative),
      real("to_host_gbps", &Row::to_host_gbps, not_negative),
      real("to_device_gbps", &Row::to_device_gbps, not_negative),
      count("swapped_out_bytes", &Row::swapped_out_bytes),
      count("swapped_in_bytes", &Row::swapped_in_bytes),
      count("device_peak_bytes", &Row::device_peak_bytes),
  };
  return columns;
}

const std::vector<Column<MemoryRow>>& memory_columns() {
  using Row = MemoryRow;
  static const std::vector<Column<Row>> columns = {
      text("run", &Row::run),
      text("resolution", &Row::resolution),
      text("planner", &Row::planner),
      real("seconds", &Row::seconds, not_negative),
      count("device_bytes", &Row::device_bytes),
      count("host_bytes", &Row::host_bytes),
      count("disk_bytes", &Row::disk_bytes),
      count("budget_bytes", &Row::budget_bytes),
      count("host_budget_bytes", &Row::host_budget_bytes),
  };
  return columns;
}

const std::vector<Column<PhaseRow>>& phase_columns() {
  using Row = PhaseRow;
  static const std::vector<Column<Row>> columns = {text("run", &Row::run), text("phase", &Row::phase),
                                                   real("seconds", &Row::seconds)};
  return columns;
}

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
void add_column(Csv& csv, const std::vector<Row>& rows, const char* name, double Row::*member) {
  if (std::all_of(rows.begin(), rows.end(), [&](const Row& row) { return std::isnan(row.*member); })) return;
  csv.header.push_back(name);
  for (std::size_t i = 0; i < rows.size(); ++i) csv.rows[i].push_back(number(rows[i].*member));
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
  add_column(csv, rows, averaged_loss, &EpochRow::averaged_validation_loss);
  return csv;
}
Csv validation_csv(const std::vector<ValidationRow>& rows) {
  Csv csv = to_csv(rows, validation_columns());
  add_column(csv, rows, averaged_dice, &ValidationRow::averaged_dice);
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
  csv.header = {"resolution", "evaluated_at", "region",       "metric",  "n",      "nan",
                "mean",       "sd",           "minimum",      "q1",      "median", "q3",
                "maximum",    "whisker_low",  "whisker_high", "outliers"};
  const bool settings =
      std::any_of(rows.begin(), rows.end(), [](const BoxRow& row) { return !row.setting.empty(); });
  if (settings) csv.header.push_back("setting");
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
  read_column(csv, rows, real(averaged_loss, &EpochRow::averaged_validation_loss), where);
  return rows;
}
std::vector<ValidationRow> validation_rows(const Csv& csv, const std::string& where) {
  std::vector<ValidationRow> rows = from_csv(csv, validation_columns(), where);
  read_column(csv, rows, real(averaged_dice, &ValidationRow::averaged_dice, share), where);
  return rows;
}
std::vector<DiceRow> dice_rows(const Csv& csv, const std::string& where) {
  std::vector<Column<DiceRow>> columns = dice_columns();
  for (const metrics::Metric& metric : metrics::metrics()) {
    const std::string name = metric.name;
    if (contract_column(name) || std::find(csv.header.begin(), csv.header.end(), name) == csv.header.end())
      continue;
    columns.push_back({name, [](const DiceRow&) { return std::string(); },
                       [&metric, name](DiceRow& row, const std::string& field) {
                         return read_score(metric, row.further[name], field);
                       }});
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
    double extent = 0;
    if (!parse(side, extent)) return std::numeric_limits<double>::infinity();
    voxels *= extent;
  }
  return sides.size() == 1 ? voxels * voxels * voxels : voxels;
}

}  // namespace voxswap::pipeline
