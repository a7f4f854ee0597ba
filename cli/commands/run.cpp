// voxswap run, voxswap train: an experiment from its file to its results.
#include "pipeline/train/run.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/csv.h"
#include "base/filesystem.h"
#include "base/log.h"
#include "base/run_log.h"
#include "cli/forecast_table.h"
#include "cli/options.h"
#include "cli/ranks.h"
#include "cli/run_folder.h"
#include "cli/table_json.h"
#include "commit.h"
#include "net/collective/launched.h"
#include "pipeline/predict/classify.h"
#include "pipeline/predict/evaluate.h"

namespace voxswap::cli {

namespace {

struct TrainingCommand {
  const char* name;
  const char* summary;
  void (*work)(const pipeline::RunOptions& options, bool json);
  void (*follow)(const pipeline::RunOptions& options);  // of ranks that print nothing
};

void print_json(const Json& json) {
  std::printf("%s\n", json.dump(2).c_str());
}

// Nothing is written: the experiment as it would be, and what it would take.
void print_dry_run(const experiments::Experiment& experiment, bool json) {
  const pipeline::DataShape data = pipeline::data_shape(experiment.run);
  const pipeline::StepForecast step(experiment.run, data, {.estimate = false, .as = "", .remember = false});
  const pipeline::Forecast prediction = pipeline::forecast(step, data, experiment.run);
  if (json) {
    Json settings = Json::object();
    for (const pipeline::Setting& setting : experiment.run.settings) settings[setting.key] = setting.value;
    print_json({{"experiment", settings}, {"forecast", run_forecast_json(experiment.run, prediction)}});
    return;
  }
  std::fputs(experiment.run.resolved.c_str(), stdout);
  std::printf("\n%s", forecast_table(experiment.run, prediction).c_str());
}

// A run goes on under its folder's name as well: what it was asked stands there.
void resolve_folder(ExperimentArguments& where, bool resume) {
  const fs::path folder = where.file, file = folder / "experiment.yaml";
  if (!fs::is_regular_file(file)) return;
  if (!resume)
    fail(Exit::usage,
         "{}: is the folder of a run. Continue it with --resume, or start a new run with {} --out DIR",
         folder.string(), file.string());
  if (where.out.empty()) where.out = folder.string();
  where.file = file.string();
}

Exit execute(const TrainingCommand& command, const Arguments& arguments) {
  CLI::App app(command.summary, std::string("voxswap ") + command.name);
  CommonOptions common;
  ExperimentArguments where;
  bool resume = false, dry_run = false, trace = false;
  add_experiment(app, where);
  app.add_option("--out", where.out, "Folder of the run (output.dir)");
  app.add_flag("--resume", resume, "Resume the run in that folder, or start it");
  app.add_flag("--dry-run", dry_run,
               "Print the resolved experiment with its memory, disk and time, and stop");
  app.add_flag("--trace", trace, "Write timeline.json of one step, for Perfetto");
  add_common(app, common, true);
  if (!parse(app, arguments, common)) return Exit::done;

  resolve_folder(where, resume);
  experiments::Experiment experiment = load(where);
  if (dry_run) {
    print_dry_run(experiment, common.json);
    return Exit::done;
  }
  experiment.run.ranks = &net::launched_ranks();
  experiment.run.resume = resume;
  experiment.run.trace = trace;
  net::agree(*experiment.run.ranks, "voxswap", format("{} of commit {}", VOXSWAP_VERSION, VOXSWAP_COMMIT));
  warn_of_shared_cores(*experiment.run.ranks);
  if (!experiment.run.ranks->is_first()) {
    command.follow(experiment.run);
    return Exit::done;
  }
  log::begin_record(format("voxswap {}: {} {}", VOXSWAP_VERSION, command.name, join(arguments, " ")));
  const auto lock = lock_run(experiment.run.output);
  check_run_folder(experiment, resume);
  experiment.run.resolved += ran_with(experiment.run);
  command.work(experiment.run, common.json);
  return Exit::done;
}

void run_and_show(const pipeline::RunOptions& options, bool json) {
  pipeline::run(options, experiments::read_settings_of_run);
  const fs::path scores = options.output / "dice.csv", classes = options.output / "classes.csv";
  if (json) {
    const bool classified = fs::exists(classes);
    print_json({{"run", options.output.string()},
                {"report", (options.output / "report.html").string()},
                {classified ? "classes" : "dice", table_json(read_csv(classified ? classes : scores))}});
    return;
  }
  if (fs::exists(classes))  // a run of classes has no Dice
    std::printf("%s\n",
                pipeline::accuracy_text(pipeline::class_rows(read_csv(classes), classes.string())).c_str());
  else
    std::fputs(pipeline::dice_table(pipeline::dice_rows(read_csv(scores), scores.string())).c_str(), stdout);
  for (const char* name : {"boxplot.svg", "report.html"}) {
    if (const auto file = options.output / name; fs::exists(file)) std::printf("%s\n", file.string().c_str());
  }
}

void follow_run(const pipeline::RunOptions& options) {
  pipeline::run(options, experiments::read_settings_of_run);
}

void train_and_show(const pipeline::RunOptions& options, bool json) {
  pipeline::train(options);
  if (json)
    print_json({{"run", options.output.string()},
                {"checkpoints", (options.output / "checkpoints").string()},
                {"timing", table_json(read_csv(options.output / "timing.csv"))}});
  else
    std::printf("%s\n", (options.output / "checkpoints").string().c_str());
}

}  // namespace

Exit run_command(const Arguments& arguments) {
  return execute({"run", "Check, prepare, train, predict the validation cases, evaluate, report.",
                  run_and_show, follow_run},
                 arguments);
}

Exit train_command(const Arguments& arguments) {
  return execute(
      {"train", "Train without predicting and scoring; `voxswap run --resume` continues from there.",
       train_and_show, pipeline::train},
      arguments);
}

}  // namespace voxswap::cli
