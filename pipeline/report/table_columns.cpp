#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>

#include "base/keys.h"
#include "base/text.h"
#include "base/units.h"
#include "pipeline/report/tables.h"

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

struct Range {
  double least, most;
};
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Range any{-infinity, infinity}, not_negative{0, infinity}, share{0, 1};

std::string number_in(const Range& range) {
  if (range.most == infinity)
    return range.least == -infinity ? "a number" : format("a number of at least {}", number(range.least));
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
Column<Row> text(const char* name, const char* meaning, std::string Row::*member) {
  return {name, meaning, [=](const Row& row) { return row.*member; },
          [=](Row& row, const std::string& field) {
            row.*member = field;
            return std::string();
          }};
}

template <class Row>
Column<Row> count(const char* name, const char* meaning, std::int64_t Row::*member, std::int64_t least = 0) {
  return {name, meaning, [=](const Row& row) { return std::to_string(row.*member); },
          [=](Row& row, const std::string& field) {
            if (!parse(field, row.*member)) return std::string("a number");
            return row.*member < least ? format("a whole number of at least {}", least) : "";
          }};
}

template <class Row>
Column<Row> real(const char* name, const char* meaning, double Row::*member, Range range = any) {
  return {name, meaning, [=](const Row& row) { return number(row.*member); },
          [=](Row& row, const std::string& field) { return read_real(row.*member, field, range); }};
}

// Of a metric: what it cannot be, no table of results holds.
template <class Row>
Column<Row> score(const metrics::Metric& metric, double Row::*member) {
  return {metric.name, metric.meaning, [=](const Row& row) { return number(row.*member); },
          [&metric, member](Row& row, const std::string& field) {
            return read_score(metric, row.*member, field);
          }};
}

template <class Row>
Column<Row> seconds(const char* name, const char* meaning, double Row::*member) {
  return {name, meaning, [=](const Row& row) { return number(to_microseconds(row.*member)); },
          [=](Row& row, const std::string& field) { return read_real(row.*member, field, not_negative); }};
}

}  // namespace

const std::vector<Column<EpochRow>>& epoch_columns() {
  using Row = EpochRow;
  static const std::vector<Column<Row>> columns = {
      text("run", "name of the run", &Row::run),
      count("repeat", "repeat, counted from 1", &Row::repeat, 1),
      text("resolution", "voxels of a prepared volume: 128 or 48x64x48", &Row::resolution),
      count("epoch", "epoch, counted from 1", &Row::epoch, 1),
      seconds("seconds", "training and validation of the epoch, in s", &Row::seconds),
      real("train_loss", "mean loss of the training steps", &Row::train_loss),
      real("validation_loss", "mean loss of the validation cases", &Row::validation_loss),
      real("learning_rate", "learning rate of the last step", &Row::learning_rate, not_negative),
      real("megavoxels_per_second", "million training voxels per second of training",
           &Row::megavoxels_per_second, not_negative),
      seconds("wait_seconds", "time that training waited for data, in s", &Row::wait_seconds),
      seconds("stall_seconds", "time that kernels waited for copies, in s", &Row::stall_seconds),
      count("swapped_out_bytes", "swapped out from device to host pool by all steps, in bytes",
            &Row::swapped_out_bytes),
      count("swapped_in_bytes", "swapped in from host pool to device by all steps, in bytes",
            &Row::swapped_in_bytes),
      count("recomputed_nodes", "nodes that all steps recomputed", &Row::recomputed_nodes),
      count("device_peak_bytes", "size of the device arena, in bytes", &Row::device_peak_bytes),
      count("host_peak_bytes", "host pool, streamed values and averaged weights, in bytes",
            &Row::host_peak_bytes),
  };
  return columns;
}

const std::vector<Column<ValidationRow>>& validation_columns() {
  using Row = ValidationRow;
  static const std::vector<Column<Row>> columns = {
      text("run", "name of the run", &Row::run),
      count("repeat", "repeat, counted from 1", &Row::repeat, 1),
      text("resolution", "voxels of a prepared volume: 128 or 48x64x48", &Row::resolution),
      count("epoch", "epoch, counted from 1", &Row::epoch, 1),
      seconds("trained_seconds", "training and validation so far, in s", &Row::trained_seconds),
      text("region", "output: a label or region", &Row::region),
      real("dice", "mean Dice of the validation cases on the training grid (rule brats)", &Row::dice, share),
  };
  return columns;
}

const std::vector<Column<DiceRow>>& dice_columns() {
  using Row = DiceRow;
  static const std::vector<Column<Row>> columns = {
      text("run", "name of the run", &Row::run),
      count("repeat", "repeat, counted from 1", &Row::repeat, 1),
      text("resolution", "voxels of a prepared volume: 128 or 48x64x48", &Row::resolution),
      text("evaluated_at", "grid of the scores: native, training or a side", &Row::evaluated_at),
      text("case", "name of the case", &Row::case_id),
      text("region", "label or region", &Row::region),
      score(metrics::metric("dice"), &Row::dice),
      score(metrics::metric("hd95"), &Row::hd95),
      score(metrics::metric("sensitivity"), &Row::sensitivity),
      score(metrics::metric("specificity"), &Row::specificity),
      count("truth_voxels", "voxels of the region in the ground truth", &Row::truth_voxels),
      count("predicted_voxels", "voxels of the region in the prediction", &Row::predicted_voxels),
  };
  return columns;
}

const std::vector<Column<TimingRow>>& timing_columns() {
  using Row = TimingRow;
  static const std::vector<Column<Row>> columns = {
      text("run", "name of the run", &Row::run),
      text("resolution", "voxels of a prepared volume: 128 or 48x64x48", &Row::resolution),
      text("device", "device that computed", &Row::device),
      text("planner", "planner of the memory plan", &Row::planner),
      count("budget_bytes", "device memory that the plan may use, in bytes", &Row::budget_bytes),
      real("link_to_host_gbps", "copy rate to the host in the cost model, in GB/s", &Row::link_to_host_gbps,
           not_negative),
      real("link_to_device_gbps", "copy rate to the device in the cost model, in GB/s",
           &Row::link_to_device_gbps, not_negative),
      seconds("epoch_seconds_mean", "mean of seconds in epochs.csv, in s", &Row::epoch_seconds_mean),
      seconds("step_seconds_median", "median training step of the last process, in s",
              &Row::step_seconds_median),
      seconds("predicted_step_seconds", "step time that the plan predicts, in s",
              &Row::predicted_step_seconds),
      seconds("bound_step_seconds", "lower bound of the step time for any plan, in s",
              &Row::bound_step_seconds),
      real("overhead", "median step divided by the time of all kernels alone", &Row::overhead, not_negative),
      real("utilization", "fraction of training time in which kernels ran", &Row::utilization, not_negative),
      real("to_host_gbps", "measured rate while copying to the host, in GB/s (0: no copies)",
           &Row::to_host_gbps, not_negative),
      real("to_device_gbps", "measured rate while copying to the device, in GB/s (0: no copies)",
           &Row::to_device_gbps, not_negative),
      count("swapped_out_bytes", "swapped out per step, in bytes", &Row::swapped_out_bytes),
      count("swapped_in_bytes", "swapped in per step, in bytes", &Row::swapped_in_bytes),
      count("device_peak_bytes", "size of the device arena, in bytes", &Row::device_peak_bytes),
  };
  return columns;
}

const std::vector<Column<MemoryRow>>& memory_columns() {
  using Row = MemoryRow;
  static const std::vector<Column<Row>> columns = {
      text("run", "name of the run", &Row::run),
      text("resolution", "voxels of a prepared volume: 128 or 48x64x48", &Row::resolution),
      text("planner", "planner of the memory plan", &Row::planner),
      real("seconds", "start of this row within the step, simulated, in s", &Row::seconds, not_negative),
      count("device_bytes", "live in the device arena, in bytes", &Row::device_bytes),
      count("host_bytes", "live in the host pool, in bytes", &Row::host_bytes),
      count("disk_bytes", "live in the scratch file, in bytes", &Row::disk_bytes),
      count("budget_bytes", "budget of the device, in bytes (0: none)", &Row::budget_bytes),
      count("host_budget_bytes", "budget of the host pool, in bytes (0: none)", &Row::host_budget_bytes),
  };
  return columns;
}

const std::vector<Column<PhaseRow>>& phase_columns() {
  using Row = PhaseRow;
  static const std::vector<Column<Row>> columns = {
      text("run", "name of the run", &Row::run),
      text("phase", "planning, preparing, training or predicting", &Row::phase),
      real("seconds", "duration, in s; training over all epochs, others of the last process", &Row::seconds)};
  return columns;
}

const Column<EpochRow>& averaged_loss_column() {
  static const Column<EpochRow> column =
      real("averaged_validation_loss", "validation loss of the averaged weights",
           &EpochRow::averaged_validation_loss);
  return column;
}

const Column<ValidationRow>& averaged_dice_column() {
  static const Column<ValidationRow> column = real(
      "averaged_dice", "mean Dice of the averaged weights, as dice", &ValidationRow::averaged_dice, share);
  return column;
}

Column<DiceRow> further_column(const metrics::Metric& metric) {
  const std::string name = metric.name;
  return {name, metric.meaning,
          [name](const DiceRow& row) {
            const auto found = row.further.find(name);
            return number(found == row.further.end() ? DiceRow::not_asked_for : found->second);
          },
          [&metric, name](DiceRow& row, const std::string& field) {
            return read_score(metric, row.further[name], field);
          }};
}

const std::vector<CsvColumn>& boxplot_columns() {
  static const std::vector<CsvColumn> columns = {
      {"resolution", "voxels of a prepared volume: 128 or 48x64x48"},
      {"evaluated_at", "grid of the scores: native, training or a side"},
      {"region", "label or region"},
      {"metric", "name of the metric"},
      {"n", "cases with a score (mean over repeats)"},
      {"nan", "cases whose score is nan"},
      {"mean", "mean, in the metric's unit"},
      {"sd", "standard deviation over the cases"},
      {"minimum", "lowest score"},
      {"q1", "first quartile"},
      {"median", "median"},
      {"q3", "third quartile"},
      {"maximum", "highest score"},
      {"whisker_low", "lowest score within 1.5 interquartile ranges below q1"},
      {"whisker_high", "highest score within 1.5 interquartile ranges above q3"},
      {"outliers", "scores outside the whiskers, separated by ;"},
      {"setting", "values of the keys in which groups of runs differ (only then)"}};
  return columns;
}

namespace {

const std::map<std::string, std::string>& known() {
  static const std::map<std::string, std::string> headings = {
      {key::preprocess_resolution, "Resolution, voxels"},
      {"resolution", "Resolution, voxels"},
      {"evaluated_at", "Scored on grid"},
      {"dice", "Mean Dice"},
      {"hd95", "Mean HD95, mm"},
      {"n", "Cases"},
      {"sd", "SD"},
      {"size", "Largest that fits"},
      {"next", "Next, which does not fit"},
      {"fits", "Fits"},
      {"megavoxels", "Megavoxels per step"},
      {"epoch_seconds", "Epoch, s"},
      {"epoch_seconds_mean", "Epoch, s"},
      {"step_seconds_median", "Step, measured, s"},
      {"predicted_step_seconds", "Step, predicted, s"},
      {"simulated_step_seconds", "Step, simulated, s"},
      {"bound_step_seconds", "Step, lower bound, s"},
      {"overhead", "Overhead"},
      {"utilization", "Utilisation"},
      {"stall_seconds", "Stall per step, s"},
      {"to_host_gbps", "Swap-out rate, GB/s"},
      {"to_device_gbps", "Swap-in rate, GB/s"},
      {key::memory_link, "Link, GB/s"},
      {"swapped_out_bytes", "Swapped out per step"},
      {"swapped_in_bytes", "Swapped in per step"},
      {"recomputed_nodes", "Nodes recomputed per step"},
      {"device_peak_bytes", "Device memory"},
      {"budget_bytes", "Budget"},
      {"host_budget_bytes", "Host budget"},
      {"host_bytes", "Host pool"},
      {"disk_bytes", "Scratch file"}};
  return headings;
}

std::string capitalised(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string with_spaces(std::string text) {
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

}  // namespace

std::string heading_of(const std::string& column) {
  if (const auto found = known().find(column); found != known().end()) return found->second;
  const std::string last = column.substr(column.rfind('.') + 1);
  if (const auto found = known().find(last); found != known().end()) return found->second;
  if (last.starts_with("dice_")) return "Dice, " + with_spaces(last.substr(5));
  constexpr std::pair<const char*, const char*> units[] = {
      {"_seconds", ", s"}, {"_gbps", ", GB/s"}, {"_bytes", ""}, {"_minutes", ", min"}};
  for (const auto& [ending, unit] : units) {
    if (last.size() > std::string_view(ending).size() && ends_with(last, ending))
      return capitalised(with_spaces(last.substr(0, last.size() - std::string_view(ending).size()))) + unit;
  }
  return capitalised(with_spaces(last));
}

}  // namespace voxswap::pipeline
