#include "library/run_folder.h"

#include <algorithm>
#include <ctime>

#include "base/csv.h"
#include "base/error.h"
#include "base/file.h"
#include "base/keys.h"
#include "base/outputs.h"
#include "base/parallel.h"
#include "base/text.h"
#include "commit.h"
#include "experiments/experiment.h"
#include "pipeline/plan/planning.h"
#include "pipeline/record/identity.h"
#include "pipeline/report/tables.h"

namespace voxswap::library {

namespace {

// Completed epochs cannot be undone, so training.epochs must not be less than their number.
void check_epochs(const fs::path& folder, std::int64_t epochs) {
  std::int64_t done = 0;
  for (const pipeline::EpochRow& row : pipeline::rows_in<pipeline::EpochRow>(folder / "epochs.csv"))
    done = std::max(done, row.epoch);
  if (done > epochs)
    fail(Exit::usage, "{}: --resume: the run there has completed {}, so training.epochs cannot be {}",
         folder.string(), counted(done, "epoch"), epochs);
}

constexpr const char* grown_file = ".run.yaml";  // in the folder of growth

// True if the folder has only files that a run leaves behind if it is killed before it writes results.
bool has_only_remains(const fs::path& folder) {
  return std::all_of(fs::directory_iterator(folder), fs::directory_iterator(), [](const auto& entry) {
    const std::string name = entry.path().filename().string();
    return name.starts_with(".") ||
           name == "checksums.json" ||  // written before the files whose checksums it contains
           (name == pipeline::growth_folder("").string() && !holds_anything(entry.path()));
  });
}

// "2026-11-22 04:40 UTC"
std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
  return text;
}

// Explains why a resumed run cannot have another number of epochs.
std::string why_length_matters(const std::vector<std::string>& changed,
                               const pipeline::Experiment& experiment) {
  if (std::find(changed.begin(), changed.end(), key::training_epochs) == changed.end()) return "";
  const std::string schedule = choice_name(experiment.training.schedule.name);
  const bool by_rate = schedule == "poly" || schedule == "cosine";
  return format(
      ". {} depends on the number of epochs, so a longer run is a different run. To start one from these "
      "weights, set {}={}",
      by_rate ? format("{}: {}", key::training_schedule_name, schedule)
              : format("{}: 0", key::training_averaging_start),
      key::network_init, experiment.output.string());
}

}  // namespace

std::unique_ptr<FolderLock> lock_run(const fs::path& folder, bool patient) {
  check_output_folder(folder);
  return std::make_unique<FolderLock>(folder, patient);
}

std::unique_ptr<FolderLock> lock_output(const fs::path& folder, bool patient) {
  error_code ignored;
  for (fs::path above = plain(fs::absolute(folder)); above.has_relative_path(); above = above.parent_path()) {
    if (fs::exists(above / "experiment.yaml", ignored) && fs::exists(above / "checkpoints", ignored))
      return lock_run(above, patient);
  }
  return lock_run(folder, patient);
}

void check_run_folder(const pipeline::Experiment& experiment, bool resume) {
  const fs::path& folder = experiment.output;
  error_code error;
  if (!holds_anything(folder) || (fs::is_directory(folder, error) && has_only_remains(folder))) return;
  const fs::path file = experiment_file(folder);
  const bool holds_run = !file.empty();
  if (!resume)
    fail(Exit::usage, "{}: {}. {}--out DIR writes elsewhere", folder.string(),
         holds_run ? "contains a run already" : "is not empty and contains no run",
         holds_run ? "--resume continues it; " : "");
  if (!holds_run && fs::exists(folder / experiments::cell_file)) return;  // a cell about to start
  if (!holds_run)
    fail(Exit::usage, "{}: --resume: is not empty and contains no run. Write elsewhere with --out DIR",
         folder.string());
  pipeline::Experiment before =
      file.filename() == grown_file ? experiments::load_experiment(file, {}) : experiments::load_run(folder);
  before.output = folder;
  std::vector<std::string> changed;
  for (const pipeline::Setting& setting : experiments::changed_settings(before, experiment))
    if (!pipeline::may_change(setting.decides, experiment)) changed.push_back(setting.key);
  if (!changed.empty())
    fail(Exit::usage,
         "{}: --resume: the run there was started with other values of {}. Restore them, or choose another "
         "folder with --out DIR{}",
         folder.string(), join(changed, ", "), why_length_matters(changed, experiment));
  check_epochs(folder, experiment.training.epochs);
}

std::vector<fs::path> cells_in(const fs::path& folder) {
  error_code ignored;
  std::vector<fs::path> cells;
  if (fs::exists(folder / "experiment.yaml", ignored) || !fs::is_directory(folder, ignored)) return cells;
  for (const auto& entry : fs::directory_iterator(folder))
    if (fs::exists(entry.path() / experiments::cell_file)) cells.push_back(entry.path());
  std::sort(cells.begin(), cells.end());
  return cells;
}

fs::path experiment_file(const fs::path& run) {
  for (const fs::path& file : {run / "experiment.yaml", pipeline::growth_folder(run) / grown_file}) {
    error_code ignored;
    if (fs::is_regular_file(file, ignored)) return file;
  }
  return {};
}

void note_grown(const experiments::LoadedExperiment& experiment) {
  const fs::path folder = pipeline::growth_folder(experiment.output);
  fs::create_directories(folder);
  write_file(folder / grown_file, experiment.resolved);
}

std::string ran_with(const pipeline::Experiment& experiment) {
  const std::unique_ptr<net::Backend> backend =
      pipeline::open_device(experiment.memory.device, pipeline::backend_options(experiment.training));
  std::string device = backend->description();
  std::replace(device.begin(), device.end(), '"', '\'');
  std::replace(device.begin(), device.end(), '\\', '/');
  return format(
      "ran_with:\n  voxswap: \"{}\"\n  commit: \"{}\"\n  started: \"{}\"\n  compiler: "
      "\"{}\"\n  backend: {}\n  device: \"{}\"\n  precision: {}\n  "
      "cores: {}\n",
      VOXSWAP_VERSION, VOXSWAP_COMMIT, now(), __VERSION__, backend->name(), device,
      net::element_name(pipeline::choose_precision(*backend, experiment.training.precision)),
      usable_core_count());
}

}  // namespace voxswap::library
