// voxswap bench: measures training steps on random volumes and compares them with the prediction, and the
// parts of an epoch on random cases.
#include <CLI/CLI.hpp>
#include <string>

#include "base/file.h"
#include "base/outputs.h"
#include "base/standard_streams.h"
#include "base/text.h"
#include "cli/describe.h"
#include "cli/options.h"
#include "cli/tables.h"
#include "net/collective/launched.h"
#include "swap/plan/plan_report.h"

namespace voxswap::cli {

namespace {

struct BenchArguments {
  ExperimentArguments where;
  CommonOptions common;
  std::int64_t steps = 10;
  bool epoch = false, trace = false, force = false;
  std::string as, out;
};

void declare(CLI::App& app, BenchArguments& arguments) {
  add_experiment(app, arguments.where);
  app.add_option("--steps", arguments.steps, "Number of measured steps, after a warm-up step")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1000000}));
  app.add_flag("--epoch", arguments.epoch,
               "Also measure samples alone, steps alone, and both as in training");
  add_as(app, arguments.as, "With --epoch, wait for the predicted step of this device instead of computing");
  app.add_flag("--trace", arguments.trace, "Write timeline.json of the last step, for Perfetto");
  app.add_option("--out", arguments.out, "Folder for bench.json, plan.json and timeline.json");
  add_force(app, arguments.force);
  add_common(app, arguments.common, true);
}

void check_arguments(const BenchArguments& arguments, const net::Ranks& ranks) {
  if (!arguments.as.empty() && !arguments.epoch)
    fail(Exit::usage,
         "--as: steps can only be measured on a device of this machine. Add --epoch to measure loading for "
         "{0}, or predict the step with `voxswap plan --as {0}`",
         arguments.as);
  if (!arguments.as.empty() && arguments.trace)
    fail(Exit::usage, "--trace: with --as, no step is computed. Use `voxswap plan --as {} --out DIR`",
         arguments.as);
  if (arguments.epoch && !ranks.is_alone())
    fail(Exit::usage, "--epoch measures a single rank, but {} were started. Start voxswap without mpirun",
         counted(ranks.count(), "rank"));
}

struct Results {
  std::string text, json, plan_json, timeline;
};

Results measure(const BenchArguments& arguments, const pipeline::Experiment& experiment, net::Ranks& ranks) {
  const pipeline::Benchmark result =
      pipeline::benchmark(experiment, {ranks, experiment.slabs}, pipeline::data_shape(experiment),
                          arguments.steps, arguments.epoch);
  const std::string epoch = result.epoch ? "\n" + epoch_table(*result.epoch) : "";
  return {benchmark_table(result) + epoch, benchmark_json(result), result.plan_json, result.timeline};
}

// Measures an epoch's parts for a device that need not be in this machine.
Results measure_for_device(const BenchArguments& arguments, const experiments::LoadedExperiment& experiment) {
  const pipeline::DataShape data = pipeline::data_shape(experiment);
  const pipeline::ForecastOptions how{.estimate = false, .as = arguments.as};
  const pipeline::StepForecast step(experiment, data, how);
  const pipeline::Forecast prediction = pipeline::forecast(step, data, experiment);
  const double step_seconds = prediction.plan.predicted_seconds;
  const double sample_seconds =
      pipeline::sample_seconds(experiment, data, swap::find_device_rates(arguments.as));
  const pipeline::EpochBenchmark epoch = pipeline::benchmark_epoch(
      experiment, arguments.as, {step_seconds, sample_seconds}, data, arguments.steps);
  Json json = run_forecast_json(experiment, prediction, experiments::forecast_growth(experiment, data, how));
  json["epoch"] = epoch_figures(epoch);
  return {two_columns({{"device", prediction.device},
                       {"precision", prediction.precision},
                       {"planner", prediction.plan.planner},
                       {"step, predicted", exact_seconds(step_seconds)}}) +
              "\n" + epoch_table(epoch),
          json.dump(2) + "\n", swap::plan_json(step.graph(), prediction.plan), ""};
}

}  // namespace

Exit bench_command(const Arguments& words) {
  CLI::App app(
      "Measure training steps on random volumes and compare them with the plan and the lower bound. With "
      "--epoch, also measure whether loading and augmentation keep the device busy. Needs no data set if the "
      "experiment sets data.modalities and data.labels. Started with mpirun, it measures the first of "
      "several ranks.",
      "voxswap bench");
  BenchArguments arguments;
  declare(app, arguments);
  if (!parse(app, words, arguments.common)) return Exit::done;

  net::Ranks& ranks = net::launched_ranks();
  check_arguments(arguments, ranks);
  if (!arguments.out.empty()) check_output_folder(arguments.out);
  const fs::path folder = arguments.out.empty() ? "." : arguments.out;
  const fs::path figures = folder / "bench.json", plan = folder / "plan.json",
                 timeline = folder / "timeline.json";
  Outputs outputs(arguments.force);
  outputs.protect(arguments.where.file);
  if (!arguments.out.empty()) outputs.check(figures);
  if (!arguments.out.empty()) outputs.check(plan);
  if (arguments.trace) outputs.check(timeline);
  const experiments::LoadedExperiment experiment = load(arguments.where);
  const Results results = arguments.as.empty() ? measure(arguments, experiment, ranks)
                                               : measure_for_device(arguments, experiment);
  if (!ranks.is_first()) return Exit::done;
  arguments.common.json ? print_exactly(results.json) : print(results.text);
  if (!arguments.out.empty()) {
    make_writable_directory(folder);
    outputs.write(figures, [&] { write_file(figures, results.json); });
    outputs.write(plan, [&] { write_file(plan, results.plan_json); });
  }
  if (arguments.trace) outputs.write(timeline, [&] { write_file(timeline, results.timeline); });
  return Exit::done;
}

}  // namespace voxswap::cli
