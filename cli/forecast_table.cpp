#include "cli/forecast_table.h"

#include <algorithm>

#include "base/units.h"
#include "pipeline/tables.h"

namespace voxswap {

std::string two_columns(const std::vector<std::pair<std::string, std::string>>& rows) {
  std::size_t width = 0;
  for (const auto& [name, value] : rows) width = std::max(width, name.size());
  std::string text;
  for (const auto& [name, value] : rows) text += format("{:<{}}  {}\n", name, width, value);
  return text;
}

std::string forecast_table(const RunOptions& options, const Forecast& forecast) {
  const std::int64_t batch = options.training.batch_size;
  std::vector<std::pair<std::string, std::string>> rows = {
      {"device", forecast.device},
      {"precision", forecast.precision},
      {"resolution", resolution_text(options.preprocess.resolution)},
      {"parameters", std::to_string(forecast.parameters)},
      {"cases", format("{} training, {} validation", forecast.cases_training, forecast.cases_validation)},
      {"memory, peak", format_bytes(forecast.arena_bytes)},
      {"memory, budget", options.memory.budget_bytes > 0 ? format_bytes(options.memory.budget_bytes)
                                                         : "auto: what is free, less a reserve"},
      {"memory, free now", format_bytes(forecast.free_bytes)},
      {"disk, prepared volumes", options.cache.empty() ? "none" : format_bytes(forecast.cache_bytes)},
      {"disk, run", "about " + format_bytes(forecast.output_bytes)},
      {"arithmetic per step", format("{:.1f} GFLOP", forecast.step_flops / 1e9)},
  };
  if (forecast.measured_step_seconds > 0) {
    const double steps = static_cast<double>((forecast.cases_training + batch - 1) / batch);
    const double epoch = steps * forecast.measured_step_seconds;
    rows.push_back({"time per step", format_seconds(forecast.measured_step_seconds) + ", measured"});
    rows.push_back({"time per epoch", "about " + format_seconds(epoch) + ", without validation"});
    rows.push_back({"time in all", "at most about " + format_seconds(epoch * static_cast<double>(
                                                                                 options.training.epochs *
                                                                                 options.training.repeats))});
  }
  return two_columns(rows);
}

}  // namespace voxswap
