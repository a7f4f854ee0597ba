// voxswap run, voxswap train: execute an experiment.
#include "voxswap/run.h"

#include <CLI/CLI.hpp>

#include "base/csv.h"
#include "base/file.h"
#include "base/keys.h"
#include "base/log.h"
#include "base/run_log.h"
#include "base/standard_streams.h"
#include "cli/configuring.h"
#include "cli/options.h"
#include "cli/ranks.h"
#include "cli/tables.h"
#include "library/content.h"
#include "library/run_folder.h"
#include "net/collective/launched.h"
#include "pipeline/predict/evaluate.h"
#include "pipeline/predict/inference.h"

namespace voxswap::cli {

namespace {

struct TrainingCommand {
  const char* name;
  const char* summary;
  bool (*work)(const Experiment& experiment, const RunOptions& options);
  void (*show)(const pipeline::Experiment& experiment, bool json);
};

void print_json(const Json& json) {
  print_exactly(json.dump(2) + "\n");
}

// Prints the resolved experiment and its forecast; writes nothing.
void print_dry_run(const experiments::LoadedExperiment& experiment, bool json) {
  const pipeline::DataShape data = pipeline::data_shape(experiment);
  const pipeline::ForecastOptions how{.estimate = false, .as = "", .remember = false};
  const pipeline::StepForecast step(experiment, data, how);
  const pipeline::Forecast prediction = pipeline::forecast(step, data, experiment);
  const Growth growth = experiments::forecast_growth(experiment, data, how);
  if (json) {
    Json settings = Json::object();
    for (const pipeline::Setting& setting : experiment.settings) settings[setting.key] = setting.value;
    print_json({{"experiment", settings}, {"forecast", run_forecast_json(experiment, prediction, growth)}});
    return;
  }
  print("{}\n{}", experiment.resolved, forecast_table(experiment, prediction, growth));
}

// A run can be resumed by its folder's name, which contains the experiment.
void resolve_folder(ExperimentArguments& where, bool resume) {
  const fs::path folder = where.file, file = library::experiment_file(folder);
  if (file.empty()) return;
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
  bool dry_run = false;
  double hours = 1;
  RunOptions how;
  add_experiment(app, where);
  app.get_option("EXPERIMENT")->description("Experiment file (YAML), or a data set folder to choose one for");
  app.add_option("--out", where.out, "Folder of the run (output.dir)");
  add_hours(app, hours, "Time limit in hours of the training chosen for a data set folder");
  app.add_flag("--resume", how.resume, "Resume the run in that folder, or start it");
  app.add_option("--until", how.until, "Pause after this epoch; --resume continues")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}));
  app.add_flag("--dry-run", dry_run,
               "Print the resolved experiment with its memory, disk and time, without running it");
  app.add_flag("--trace", how.trace, "Write timeline.json of one step, for Perfetto");
  add_common(app, common, true);
  if (!parse(app, arguments, common)) return Exit::done;

  resolve_folder(where, how.resume);
  const bool is_dataset = is_dataset_folder(where.file);
  if (!is_dataset && fs::exists(where.file) && app.count("--hours") > 0)
    fail(Exit::usage, "--hours: is for a data set folder. {} is an experiment: set {}", where.file,
         key::training_epochs);
  const experiments::LoadedExperiment experiment =
      is_dataset ? configured(where, hours, how.resume) : load(where);
  net::agree(net::launched_ranks(), "experiment file", experiment.resolved);
  if (dry_run) {
    print_dry_run(experiment, common.json);
    return Exit::done;
  }
  warn_of_shared_cores(net::launched_ranks());
  how.record = format("voxswap {}: {} {}", VOXSWAP_VERSION, command.name, join(arguments, " "));
  if (command.work(holding(experiment), how)) command.show(experiment, common.json);
  return Exit::done;
}

void show_training(const pipeline::Experiment& experiment, bool json) {
  const fs::path timing = experiment.output / "timing.csv";  // of finished repeats
  if (json)
    print_json({{"run", experiment.output.string()},
                {"checkpoints", (experiment.output / "checkpoints").string()},
                {"timing", fs::exists(timing) ? table_json(read_csv(timing)) : Json::array()}});
  else
    print("{}\n", (experiment.output / "checkpoints").string());
}

void show_run(const pipeline::Experiment& experiment, bool json) {
  const fs::path scores = experiment.output / "dice.csv", classes = experiment.output / "classes.csv";
  if (!fs::exists(scores) && !fs::exists(classes)) return show_training(experiment, json);  // paused
  if (json) {
    const bool classified = fs::exists(classes);
    print_json({{"run", experiment.output.string()},
                {"report", (experiment.output / "report.html").string()},
                {classified ? "classes" : "dice", table_json(read_csv(classified ? classes : scores))}});
    return;
  }
  if (fs::exists(classes))  // classification runs have no Dice
    print("{}\n", pipeline::accuracy_text(pipeline::rows_in<pipeline::ClassRow>(classes)));
  else
    print(pipeline::dice_table(pipeline::rows_in<pipeline::DiceRow>(scores)));
  for (const char* name : {"boxplot.svg", "report.html"}) {
    if (const auto file = experiment.output / name; fs::exists(file)) print("{}\n", file.string());
  }
}

}  // namespace

Exit run_command(const Arguments& arguments) {
  return execute({"run", "Check, prepare, train, predict the validation cases, evaluate, report.",
                  voxswap::run, show_run},
                 arguments);
}

Exit train_command(const Arguments& arguments) {
  return execute(
      {"train", "Train without predicting and scoring; `voxswap run --resume` continues from there.",
       voxswap::train, show_training},
      arguments);
}

}  // namespace voxswap::cli
