#include "pipeline/report/tables.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/keys.h"
#include "pipeline/report/lists.h"

namespace voxswap::pipeline {

using namespace column;

std::string column::read_real(double& value, const std::string& field, const Bounds& bounds) {
  const auto read = parse_number<double>(field);
  if (!read) return "a number";
  value = *read;
  if (std::isnan(value) ? bounds.or_nan : value >= bounds.least && value <= bounds.most) return "";
  if (bounds.most < no_bound)
    return format("a number from {} to {}{}", number(bounds.least), number(bounds.most),
                  bounds.or_nan ? ", or nan" : "");
  return bounds.least == -no_bound ? "a number" : format("a number of at least {}", number(bounds.least));
}

namespace {

// The metrics that every dice.csv contains, in the order of their columns.
constexpr std::pair<const char*, double DiceRow::*> contract_columns[] = {
    {"dice", &DiceRow::dice},
    {"hd95", &DiceRow::hd95},
    {"sensitivity", &DiceRow::sensitivity},
    {"specificity", &DiceRow::specificity}};

// Null for other metrics.
double DiceRow::*contract_column(const std::string& metric) {
  for (const auto& [name, member] : contract_columns)
    if (metric == name) return member;
  return nullptr;
}

// Infinity is invalid: a distance to an empty region is nan, or set by the rule for empty regions.
Column<DiceRow> score(const metrics::Metric& metric) {
  const std::string name = metric.name;
  return {name, metric.meaning, [name](const DiceRow& row) { return number(metric_value(row, name)); },
          [name, &metric](DiceRow& row, const std::string& field) {
            double value = 0;
            const std::string expected = read_real(value, field, {metric.least, metric.most});
            set_metric(row, name, value);
            return expected.empty() && std::isinf(value) ? "a finite number or nan" : expected;
          }};
}

Column<DiceRow> further(const metrics::Metric& metric) {
  Column<DiceRow> column = score(metric);
  column.has = [name = column.name](const DiceRow& row) { return row.further.contains(name); };
  column.required = false;
  column.when = " (optional)";
  return column;
}

template <class Row>
Column<Row> averaged(Column<Row> column, double Row::*member) {
  column.has = [=](const Row& row) { return !std::isnan(row.*member); };
  column.required = false;
  column.when = "; only with weight averaging";
  return column;
}

// Marks a column that tables of earlier versions lack.
template <class Row>
Column<Row> since_later(Column<Row> column) {
  column.required = false;
  return column;
}

std::string outliers_text(const std::vector<double>& outliers) {
  std::vector<std::string> parts;
  for (double value : outliers) parts.push_back(number(value));
  return join(parts, ";");
}

}  // namespace

double metric_value(const DiceRow& row, const std::string& metric) {
  if (const auto column = contract_column(metric)) return row.*column;
  const auto found = row.further.find(metric);
  return found == row.further.end() ? DiceRow::not_asked_for : found->second;
}

void set_metric(DiceRow& row, const std::string& metric, double value) {
  (contract_column(metric) ? row.*contract_column(metric) : row.further[metric]) = value;
}

Columns<EpochRow> columns_of(const EpochRow*) {
  using Row = EpochRow;
  return of_repeat<Row>({
      count("epoch", "epoch, counted from 1", &Row::epoch, 1),
      seconds("seconds", "training and validation time of the epoch, in s", &Row::seconds),
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
      since_later(
          seconds("validation_seconds", "validation time of the epoch, in s", &Row::validation_seconds)),
      since_later(real("device_busy",
                       "fraction of the epoch in which the device ran kernels (since a resume)",
                       &Row::device_busy, share)),
      averaged(real("averaged_validation_loss", "validation loss of the averaged weights",
                    &Row::averaged_validation_loss),
               &Row::averaged_validation_loss),
  });
}

Columns<ValidationRow> columns_of(const ValidationRow*) {
  using Row = ValidationRow;
  return of_repeat<Row>({
      count("epoch", "epoch, counted from 1", &Row::epoch, 1),
      seconds("trained_seconds", "training and validation time so far, in s", &Row::trained_seconds),
      text("region", "output: a label or region", &Row::region),
      real("dice", "mean Dice of the validation cases on the training grid (rule brats)", &Row::dice, share),
      averaged(
          real("averaged_dice", "mean Dice of the averaged weights, as dice", &Row::averaged_dice, share),
          &Row::averaged_dice),
  });
}

Columns<DiceRow> columns_of(const DiceRow*) {
  using Row = DiceRow;
  Columns<Row> all = of_repeat<Row>({grid<Row>(), text("case", "name of the case", &Row::case_id),
                                     text("region", "label or region", &Row::region)});
  for (const auto& [name, member] : contract_columns) all.push_back(score(metrics::metric(name)));
  all.push_back(count("truth_voxels", "voxels of the region in the ground truth", &Row::truth_voxels));
  all.push_back(count("predicted_voxels", "voxels of the region in the prediction", &Row::predicted_voxels));
  for (const metrics::Metric& metric : metrics::metrics())
    if (!contract_column(metric.name)) all.push_back(further(metric));
  return all;
}

Columns<TimingRow> columns_of(const TimingRow*) {
  using Row = TimingRow;
  return {
      run<Row>(),
      resolution<Row>(),
      text("device", "device that computed", &Row::device),
      text("planner", "planner of the memory plan", &Row::planner),
      count("budget_bytes", "device memory that the plan may use, in bytes", &Row::budget_bytes),
      real("link_to_host_gbps", "copy rate to the host in the cost model, in GB/s", &Row::link_to_host_gbps,
           not_negative),
      real("link_to_device_gbps", "copy rate to the device in the cost model, in GB/s",
           &Row::link_to_device_gbps, not_negative),
      seconds("epoch_seconds_mean", "mean of seconds in epochs.csv, in s", &Row::epoch_seconds_mean),
      seconds("step_seconds_median", "median training step time of the last process, in s",
              &Row::step_seconds_median),
      seconds("predicted_step_seconds", "step time that the plan predicts, in s",
              &Row::predicted_step_seconds),
      seconds("bound_step_seconds", "lower bound of the step time for any plan, in s (nan: noisy costs)",
              &Row::bound_step_seconds),
      real("overhead", "median step time divided by compute time (nan: noisy costs)", &Row::overhead,
           not_negative),
      real("utilization", "fraction of training time in which kernels ran", &Row::utilization, not_negative),
      real("to_host_gbps", "measured rate while copying to the host, in GB/s (0: no copies)",
           &Row::to_host_gbps, not_negative),
      real("to_device_gbps", "measured rate while copying to the device, in GB/s (0: no copies)",
           &Row::to_device_gbps, not_negative),
      count("swapped_out_bytes", "swapped out per step, in bytes", &Row::swapped_out_bytes),
      count("swapped_in_bytes", "swapped in per step, in bytes", &Row::swapped_in_bytes),
      count("device_peak_bytes", "size of the device arena, in bytes", &Row::device_peak_bytes),
  };
}

Columns<MemoryRow> columns_of(const MemoryRow*) {
  using Row = MemoryRow;
  return {run<Row>(),
          resolution<Row>(),
          text("planner", "planner of the memory plan", &Row::planner),
          real("seconds", "start of this row within the step, simulated, in s", &Row::seconds, not_negative),
          count("device_bytes", "live in the device arena, in bytes", &Row::device_bytes),
          count("host_bytes", "live in the host pool, in bytes", &Row::host_bytes),
          count("disk_bytes", "live in the scratch file, in bytes", &Row::disk_bytes),
          since_later(count("budget_bytes", "budget of the device, in bytes (0: none)", &Row::budget_bytes)),
          since_later(count("host_budget_bytes", "budget of the host pool, in bytes (0: none)",
                            &Row::host_budget_bytes))};
}

Columns<PhaseRow> columns_of(const PhaseRow*) {
  using Row = PhaseRow;
  return {
      run<Row>(), text("phase", "planning, preparing, training or predicting", &Row::phase),
      real("seconds", "duration, in s; training over all epochs, others of the last process", &Row::seconds)};
}

Columns<BoxRow> columns_of(const BoxRow*) {
  using Row = BoxRow;
  using Box = metrics::BoxStatistics;
  return {resolution<Row>(),
          grid<Row>(),
          text("region", "label or region", &Row::region),
          text("metric", "name of the metric", &Row::metric),
          part("n", "cases with a score (mean over repeats)", &Row::statistics, &Box::n),
          part("nan", "cases whose score is nan", &Row::statistics, &Box::nan),
          part("mean", "mean, in the metric's unit", &Row::statistics, &Box::mean),
          part("sd", "standard deviation (n - 1) over the cases; 0 for one case", &Row::statistics, &Box::sd),
          part("minimum", "lowest score", &Row::statistics, &Box::minimum),
          part("q1", "first quartile", &Row::statistics, &Box::q1),
          part("median", "median", &Row::statistics, &Box::median),
          part("q3", "third quartile", &Row::statistics, &Box::q3),
          part("maximum", "highest score", &Row::statistics, &Box::maximum),
          part("whisker_low", "lowest score within 1.5 interquartile ranges below q1", &Row::statistics,
               &Box::whisker_low),
          part("whisker_high", "highest score within 1.5 interquartile ranges above q3", &Row::statistics,
               &Box::whisker_high),
          {"outliers", "scores outside the whiskers, separated by ;",
           [](const Row& row) { return outliers_text(row.statistics.outliers); }},
          {"setting", "values of the keys in which groups of runs differ (only then)",
           [](const Row& row) { return row.setting; }, nullptr,
           [](const Row& row) { return !row.setting.empty(); }}};
}

Columns<CalibrationRow> columns_of(const CalibrationRow*) {
  using Row = CalibrationRow;
  return of_repeat<Row>({
      text("case", "name of the case", &Row::case_id),
      text("output", "output: a label or region", &Row::output),
      count("voxels", "voxels of the training grid that are scored", &Row::voxels),
      real("ece", "expected calibration error over 15 bins of equal width", &Row::expected_error,
           not_negative),
      real("mce", "maximum calibration error of these bins", &Row::maximum_error, not_negative),
      real("brier", "Brier score: mean squared error of the probabilities", &Row::brier, not_negative),
      real("log_loss", "mean negative log likelihood, probabilities of at least 1e-7", &Row::log_loss,
           not_negative),
  });
}

std::vector<EpochRow> best_epochs(const std::vector<EpochRow>& rows) {
  std::vector<EpochRow> best;
  for (const EpochRow& row : rows) {
    if (std::isnan(row.validation_loss)) continue;
    const auto found =
        std::ranges::find_if(best, [&](const EpochRow& one) { return is_same_training(one, row); });
    if (found == best.end())
      best.push_back(row);
    else if (row.validation_loss < found->validation_loss)
      *found = row;
  }
  return best;
}

std::vector<ValidationRow> means_over_regions(const std::vector<ValidationRow>& rows) {
  std::vector<ValidationRow> means;
  std::vector<std::vector<const ValidationRow*>> regions;  // of each mean
  for (const ValidationRow& row : rows) {
    const auto found =
        std::ranges::find_if(means, [&](const ValidationRow& mean) { return is_same_epoch(mean, row); });
    const auto place = static_cast<std::size_t>(found - means.begin());
    if (found == means.end()) {
      means.push_back(row);
      regions.emplace_back();
    }
    regions[place].push_back(&row);
  }
  for (std::size_t i = 0; i < means.size(); ++i) {
    means[i].dice = mean_of(regions[i], &ValidationRow::dice);
    means[i].averaged_dice = mean_of(regions[i], &ValidationRow::averaged_dice);
  }
  return means;
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

void set_scores(CalibrationRow& row, const metrics::Calibration& found) {
  row.voxels = found.voxels();
  row.expected_error = found.expected_error();
  row.maximum_error = found.maximum_error();
  row.brier = found.brier();
  row.log_loss = found.log_loss();
}

namespace {

// Headings that cannot be derived from the name.
const std::map<std::string, std::string>& known() {
  static const std::map<std::string, std::string> headings = {
      {"resolution", "Resolution, voxels"},
      {"evaluated_at", "Scoring grid"},
      {"dice", "Mean Dice"},
      {"hd95", "Mean HD95, mm"},
      {"n", "Cases"},
      {"sd", "SD"},
      {"size", "Largest size"},
      {"next", "Next size, does not fit"},
      {"megavoxels", "Megavoxels per step"},
      {"epoch_seconds", "Epoch, s"},
      {"epoch_seconds_mean", "Epoch, s"},
      {"step_seconds_median", "Step, measured, s"},
      {"predicted_step_seconds", "Step, predicted, s"},
      {"simulated_step_seconds", "Step, simulated, s"},
      {"bound_step_seconds", "Step, lower bound, s"},
      {"utilization", "Utilisation"},
      {"stall_seconds", "Stall per step, s"},
      {"to_host_gbps", "Swap-out rate, GB/s"},
      {"to_device_gbps", "Swap-in rate, GB/s"},
      {key::memory_link, "Link, GB/s"},
      {"swapped_out_bytes", "Swapped out per step"},
      {"swapped_in_bytes", "Swapped in per step"},
      {"recomputed_nodes", "Nodes recomputed per step"},
      {"device_peak_bytes", "Device memory"},
      {"host_bytes", "Host pool"},
      {"disk_bytes", "Scratch file"}};
  return headings;
}

std::string capitalised(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

}  // namespace

std::string with_spaces(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string heading_of(const std::string& column) {
  const std::string last = column.substr(column.rfind('.') + 1);
  for (const std::string& name : {column, last})
    if (const auto found = known().find(name); found != known().end()) return found->second;
  if (last.starts_with("dice_")) return "Dice, " + with_spaces(last.substr(5));
  constexpr std::pair<std::string_view, const char*> units[] = {
      {"_seconds", ", s"}, {"_gbps", ", GB/s"}, {"_bytes", ""}, {"_minutes", ", min"}};
  for (const auto& [ending, unit] : units)
    if (last.size() > ending.size() && last.ends_with(ending))
      return capitalised(with_spaces(last.substr(0, last.size() - ending.size()))) + unit;
  return capitalised(with_spaces(last));
}

}  // namespace voxswap::pipeline
