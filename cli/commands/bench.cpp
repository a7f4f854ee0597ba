// voxswap bench: measures training steps on random volumes and compares them with the prediction.
#include <CLI/CLI.hpp>

#include "base/file.h"
#include "base/outputs.h"
#include "base/standard_streams.h"
#include "cli/describe.h"
#include "cli/options.h"
#include "cli/tables.h"
#include "net/collective/launched.h"

namespace voxswap::cli {

Exit bench_command(const Arguments& words) {
  CLI::App app(
      "Measure training steps on random volumes and compare them with the plan and the lower bound. Needs no "
      "data set if the experiment sets data.modalities and data.labels. Started with mpirun, it measures the "
      "first of several ranks.",
      "voxswap bench");
  CommonOptions common;
  ExperimentArguments where;
  std::int64_t steps = 10;
  bool trace = false, force = false;
  std::string out;
  add_experiment(app, where);
  app.add_option("--steps", steps, "Number of measured steps, after a warm-up step")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1000000}));
  app.add_flag("--trace", trace, "Write timeline.json of the last step, for Perfetto");
  app.add_option("--out", out, "Folder for bench.json, plan.json and timeline.json");
  add_force(app, force);
  add_common(app, common, true);
  if (!parse(app, words, common)) return Exit::done;

  if (!out.empty()) check_output_folder(out);
  const fs::path folder = out.empty() ? "." : out;
  const fs::path figures = folder / "bench.json", plan = folder / "plan.json",
                 timeline = folder / "timeline.json";
  Outputs outputs(force);
  outputs.protect(where.file);
  if (!out.empty()) outputs.check(figures);
  if (!out.empty()) outputs.check(plan);
  if (trace) outputs.check(timeline);
  const pipeline::Experiment experiment = load(where);
  net::Ranks& ranks = net::launched_ranks();
  const pipeline::Benchmark result =
      pipeline::benchmark(experiment, {ranks, experiment.slabs}, pipeline::data_shape(experiment), steps);
  if (!ranks.is_first()) return Exit::done;
  const std::string json = benchmark_json(result);
  common.json ? print_exactly(json) : print(benchmark_table(result));
  if (!out.empty()) {
    make_writable_directory(folder);
    outputs.write(figures, [&] { write_file(figures, json); });
    outputs.write(plan, [&] { write_file(plan, result.plan_json); });
  }
  if (trace) outputs.write(timeline, [&] { write_file(timeline, result.timeline); });
  return Exit::done;
}

}  // namespace voxswap::cli
