// Forecasts and measurements of a run or a step, as tables and as JSON.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "pipeline/device/benchmark.h"
#include "pipeline/plan/forecast.h"
#include "pipeline/plan/largest.h"
#include "pipeline/plan/several_ranks.h"
#include "swap/model/simulator.h"

namespace voxswap::cli {

// Two columns, both aligned to the left: values here are sentences more often than numbers.
std::string two_columns(const std::vector<std::pair<std::string, std::string>>& rows);
std::string exact_seconds(double seconds);  // in ms, s or min; "none": infinite

std::string forecast_table(const pipeline::RunOptions& options, const pipeline::Forecast& forecast);
// The same for scripts: figures of the plan, of memory, disk and time.
Json run_forecast_json(const pipeline::RunOptions& options, const pipeline::Forecast& forecast);
// plan_json() with the forecast in it.
std::string forecast_json(const std::string& plan, const pipeline::Forecast& forecast,
                          const std::optional<pipeline::RanksForecast>& ranks = {});

// The figures alone, with those of the simulated step.
std::string forecast_figures_json(const pipeline::Forecast& forecast, const swap::Simulation& simulation,
                                  const swap::Sharing& sharing,
                                  const std::optional<pipeline::RanksForecast>& ranks = {});
// A step of several ranks that train together.
std::string ranks_text(const pipeline::RanksForecast& ranks);
// A step of one of several devices that run it at once.
std::string sharing_text(const swap::Simulation& simulation, const swap::Sharing& sharing);

// Planners side by side, and below why some have no plan.
std::string comparison_table(const std::vector<pipeline::PlannerRow>& rows, const swap::Bound& bound);
std::string comparison_json(const std::vector<pipeline::PlannerRow>& rows, const swap::Bound& bound);

std::string benchmark_table(const pipeline::Benchmark& benchmark);
std::string benchmark_json(const pipeline::Benchmark& benchmark);

}  // namespace voxswap::cli
