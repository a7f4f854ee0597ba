#include <algorithm>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/sweep_rounds.h"
#include "cli/tables.h"
#include "experiments/training_grid.h"
#include "pipeline/cases/patches.h"
#include "pipeline/plan/forecast.h"

namespace voxswap::cli {

namespace {

struct CellForecast {
  bool fits = true;
  std::int64_t memory = 0, host = 0, disk = 0;
  double seconds = 0;
};

// The cell's experiment as its process will run it: within its share, and with the split not yet made.
experiments::LoadedExperiment as_run(const experiments::Sweep& sweep, const experiments::SweepCell& cell,
                                     const SweepShares& shares) {
  experiments::LoadedExperiment experiment = cell.experiment;
  experiments::resolve_grid(experiment);
  if (!sweep.draws_splits) experiment.split = sweep.base.split;
  if (!share_overrides(cell, shares, shares.shares[0]).empty())
    experiment.memory = pipeline::within_share(experiment.memory, shares.shares[0], shares.on_gpus);
  return experiment;
}

CellForecast forecast_cell(const experiments::Sweep& sweep, const experiments::SweepCell& cell,
                           const SweepShares& shares, bool estimate) {
  const experiments::LoadedExperiment experiment = as_run(sweep, cell, shares);
  const pipeline::DataShape data = pipeline::data_shape(experiment);
  CellForecast result;
  try {
    const pipeline::ForecastOptions how{.estimate = estimate, .as = "", .remember = false};
    const pipeline::StepForecast step(experiment, data, how);
    const pipeline::Forecast forecast = pipeline::forecast(step, data, experiment);
    const bool runs = sweep.command == "run";
    result.memory = forecast.arena_bytes;
    result.host = forecast.plan.host_bytes;
    result.disk = forecast.plan.disk_bytes + (runs ? forecast.output_bytes : 0);
    result.seconds =
        runs ? pipeline::epoch_seconds(forecast, experiment) *
                       static_cast<double>(experiment.training.epochs * experiment.training.repeats) +
                   experiments::seconds_of(experiments::forecast_growth(experiment, data, how))
             : forecast.plan.predicted_seconds * static_cast<double>(cell.question.steps + 1);
  } catch (const Error& error) {
    if (error.exit() != Exit::does_not_fit) throw;
    result.fits = false;
  }
  return result;
}

std::string planned_only(const experiments::Sweep& sweep) {
  std::vector<std::vector<std::string>> rows = {{"cell"}};
  for (const experiments::SweepCell& cell : sweep.cells) rows.push_back({cell.name});
  return table(rows) +
         format("\n{}, planned but not trained (seconds each)\n", counted(sweep.cells.size(), "cell"));
}

// Totals over the cells that fit.
struct Total {
  std::size_t cells = 0, fitting = 0;
  std::int64_t most = 0, disk = 0;
  double seconds = 0;
};

std::string total_text(const Total& total, std::size_t jobs) {
  const std::size_t left = total.cells - total.fitting;
  if (total.fitting == 0)
    return format("{}, none of which fits. Set a larger memory.budget, memory.host or --memory\n",
                  counted(total.cells, "cell"));
  std::string text =
      format("{}{}, {} in parallel: at most {} each, {} of disk, about {} of computing time in total",
             counted(total.cells, "cell"),
             left == 0 ? "" : format(" ({} of them do not fit and are not included)", left), jobs,
             format_bytes(total.most), format_bytes(total.disk), format_seconds(total.seconds));
  if (jobs > 1) text += " (times include the reduced number of cores per cell only where they were measured)";
  return text + "\n";
}

// Values are null if the cell does not fit.
Json forecast_json(const experiments::Sweep& sweep, const experiments::SweepCell& cell,
                   const CellForecast& forecast) {
  const auto known = [&](auto value) { return forecast.fits ? Json(value) : Json(nullptr); };
  Json json = {{"cell", cell.name},
               {"fits", forecast.fits},
               {"memory_bytes", known(forecast.memory)},
               {"host_bytes", known(forecast.host)},
               {"disk_bytes", known(forecast.disk)},
               {"seconds", known(forecast.seconds)}};
  for (const pipeline::Rung& rung : sweep.rungs)
    json["rungs"].push_back(pipeline::rung_epoch(cell.experiment.training.epochs, rung));
  return json;
}

std::string names_json(const experiments::Sweep& sweep) {
  Json list = Json::array();
  for (const experiments::SweepCell& cell : sweep.cells) list.push_back({{"cell", cell.name}});
  return list.dump(2) + "\n";
}

}  // namespace

std::string sweep_forecast(const experiments::Sweep& sweep, const SweepShares& shares, bool estimate,
                           bool json) {
  if (sweep.command == "plan") return json ? names_json(sweep) : planned_only(sweep);
  std::vector<std::vector<std::string>> rows = {
      {"cell", "memory, peak", "host pool", "disk", "time, without validation"}};
  Json list = Json::array();
  std::vector<double> seconds;  // 0: does not fit
  Total total;
  total.cells = sweep.cells.size();
  for (const experiments::SweepCell& cell : sweep.cells) {
    throw_if_interrupted();
    const CellForecast forecast = forecast_cell(sweep, cell, shares, estimate);
    list.push_back(forecast_json(sweep, cell, forecast));
    seconds.push_back(forecast.seconds);
    if (!forecast.fits) {
      rows.push_back({cell.name, "does not fit", "-", "-", "-"});
      continue;
    }
    rows.push_back({cell.name, format_bytes(forecast.memory), format_bytes(forecast.host),
                    format_bytes(forecast.disk), format_seconds(forecast.seconds)});
    ++total.fitting;
    total.most = std::max(total.most, forecast.memory + forecast.host);
    total.disk += forecast.disk;
    total.seconds += forecast.seconds;
  }
  if (json) return list.dump(2) + "\n";
  return table(rows) + "\n" + total_text(total, shares.shares.size()) + halving_forecast(sweep, seconds);
}

}  // namespace voxswap::cli
