// Tables printed by commands, as text and as JSON: results of check, largest sizes, forecasts and
// measurements of a step, progress and forecast of a sweep, CSV files.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/csv.h"
#include "base/json.h"
#include "cli/cell_shares.h"
#include "cli/sweep_cell.h"
#include "data/cases/check.h"
#include "experiments/growth.h"
#include "experiments/sweep.h"
#include "pipeline/device/benchmark.h"
#include "pipeline/plan/forecast.h"
#include "pipeline/plan/largest.h"
#include "swap/model/simulator.h"

namespace voxswap::cli {

// The results of `voxswap check`.
std::int64_t count_problems(const data::CheckReport& report, const std::string& severity);
std::string check_text(const data::CheckReport& report);
std::string check_json(const data::CheckReport& report);

// The largest sizes that fit, as text and as JSON: for one dimension, a row per amount of host memory.
std::string largest_text(const std::vector<pipeline::Largest>& all);
std::string largest_json(const std::vector<pipeline::Largest>& all);

// Forecasts and measurements of a run or a step, as tables and as JSON. Two columns, both left-aligned, since
// most values are text, which is wrapped on a terminal.
std::string two_columns(const std::vector<std::pair<std::string, std::string>>& rows);
std::string exact_seconds(double seconds);  // in ms, s or min; infinity: "none"

// `growth`: the stages before the experiment's own epochs, whose time is part of the total.
using Growth = std::vector<experiments::StageForecast>;
std::string forecast_table(const pipeline::Experiment& experiment, const pipeline::Forecast& forecast,
                           const Growth& growth);
// The forecast as JSON: plan, memory, disk and time.
Json run_forecast_json(const pipeline::Experiment& experiment, const pipeline::Forecast& forecast,
                       const Growth& growth);
// plan_json() with the forecast added.
std::string forecast_json(const std::string& plan, const pipeline::Forecast& forecast,
                          const std::optional<pipeline::RanksForecast>& ranks = {});

// Only the numbers, with those of the simulated step.
std::string forecast_figures_json(const pipeline::Forecast& forecast, const swap::Simulation& simulation,
                                  const swap::Sharing& sharing,
                                  const std::optional<pipeline::RanksForecast>& ranks = {});
// A step on several ranks that train together.
std::string ranks_text(const pipeline::RanksForecast& ranks);
// A step on one of several devices that run it in parallel.
std::string sharing_text(const swap::Simulation& simulation, const swap::Sharing& sharing);

// Planners side by side, followed by reasons for missing plans.
std::string comparison_table(const std::vector<pipeline::PlannerRow>& rows, const swap::Bound& bound);
std::string comparison_json(const std::vector<pipeline::PlannerRow>& rows, const swap::Bound& bound);

std::string benchmark_table(const pipeline::Benchmark& benchmark);
std::string benchmark_json(const pipeline::Benchmark& benchmark);
// The parts of an epoch, and a sentence that says whether loading keeps up and which key helps otherwise.
std::string epoch_table(const pipeline::EpochBenchmark& epoch);
Json epoch_figures(const pipeline::EpochBenchmark& epoch);

// The progress of a sweep: a table that is redrawn on a terminal, otherwise a line per event; nothing with
// --quiet.
class SweepTable {
 public:
  explicit SweepTable(std::vector<const experiments::SweepCell*> cells);

  void started(std::size_t cell);
  void ended(std::size_t cell, const CellStatus& status);
  void show(const std::vector<CellStatus>& statuses);    // rate-limited
  void finish(const std::vector<CellStatus>& statuses);  // final state

 private:
  void draw(const std::vector<CellStatus>& statuses);

  std::vector<const experiments::SweepCell*> cells_;
  bool terminal_;
  std::size_t lines_ = 0;  // on the screen
  std::chrono::steady_clock::time_point drawn_{};
};

// Forecast of a sweep without running it: a table with memory, disk and time of every cell, and totals.
// `estimate`: use estimated costs instead of measuring. `json`: a list of the cells.
std::string sweep_forecast(const experiments::Sweep& sweep, const SweepShares& shares, bool estimate,
                           bool json = false);

// Converts a CSV file to JSON: a list of rows with columns by name. Numbers become numbers and `nan` becomes
// null; names of runs, cases, regions, grids and resolutions remain text even if they look like numbers.
Json table_json(const Csv& csv);

}  // namespace voxswap::cli
