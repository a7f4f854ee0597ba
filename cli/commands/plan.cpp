// voxswap plan: the memory plan of a training step, known before the first one.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/forecast_table.h"
#include "cli/options.h"

namespace voxswap {

Exit plan_command(const Arguments& arguments) {
  CLI::App app(
      "The memory plan of a training step, without training: its peak, and how far that is from the best.",
      "voxswap plan");
  CommonOptions common;
  ExperimentArguments where;
  add_experiment(app, where);
  add_common(app, common, true);
  if (!parse(app, arguments, common)) return Exit::done;

  const Experiment experiment = load(where);
  const Forecast prediction = forecast(experiment.run, false);
  if (common.json)
    std::printf("%s\n", prediction.plan_json.c_str());
  else
    std::printf("%s\n%s", prediction.plan_text.c_str(), forecast_table(experiment.run, prediction).c_str());
  return Exit::done;
}

}  // namespace voxswap
