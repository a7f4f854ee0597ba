// voxswap bench: training steps on random volumes, measured beside what was predicted.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/file.h"
#include "cli/forecast_table.h"
#include "cli/options.h"
#include "cli/output.h"

namespace voxswap {

Exit bench_command(const Arguments& words) {
  CLI::App app(
      "Training steps on random volumes: measured beside predicted and the bound. Needs no data set where "
      "the "
      "experiment names data.modalities and data.labels.",
      "voxswap bench");
  CommonOptions common;
  ExperimentArguments where;
  std::int64_t steps = 10;
  bool trace = false;
  std::string out;
  add_experiment(app, where);
  app.add_option("--steps", steps, "how many are measured, after one that is not")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1000000}));
  app.add_flag("--trace", trace, "write timeline.json, the last step for Perfetto");
  app.add_option("--out", out, "folder for bench.json, plan.json and timeline.json; of --trace alone: here");
  add_common(app, common, true);
  if (!parse(app, words, common)) return Exit::done;

  if (!out.empty()) check_output_folder(out);
  const RunOptions options = load(where).run;
  const Benchmark result = benchmark(options, data_shape(options), steps);
  const std::string json = benchmark_json(result);
  std::fputs(common.json ? json.c_str() : benchmark_table(result).c_str(), stdout);
  const std::filesystem::path folder = out.empty() ? "." : out;
  if (!out.empty()) {
    make_writable_directory(folder);
    write_file(folder / "bench.json", json);
    write_file(folder / "plan.json", result.plan_json);
  }
  if (trace) write_file(folder / "timeline.json", result.timeline);
  return Exit::done;
}

}  // namespace voxswap
