#include "cli/run_folder.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <thread>

#include "base/csv.h"
#include "base/error.h"
#include "commit.h"
#include "pipeline/planning.h"
#include "pipeline/tables.h"

namespace voxswap {

namespace {

namespace fs = std::filesystem;

// The folder may not exist yet: then the nearest one above it counts.
void check_writable(const fs::path& folder) {
  fs::path there = fs::absolute(folder).lexically_normal();
  std::error_code error;
  while (!fs::exists(there, error) && there.has_parent_path() && there != there.parent_path())
    there = there.parent_path();
  if (!fs::is_directory(there, error))
    fail(Exit::failed, "{}: cannot be written: {} is not a folder; choose another with --out DIR",
         folder.string(), there.string());
  if (::access(there.c_str(), W_OK | X_OK) != 0)
    fail(Exit::failed, "{}: cannot be written: no permission to write to {}; choose another with --out DIR",
         folder.string(), there.string());
}

// May a run go on although this key is another than before? Only if the steps already made would have been
// the same.
bool may_change(const std::string& key, const RunOptions& options) {
  const bool by_length =
      options.training.schedule.name == "poly" || options.training.schedule.name == "cosine";
  if (key == "training.epochs") return !by_length;
  if (key == "training.early_stop" || key == "training.checkpoint_minutes" || key == "data.cache")
    return true;
  if (key == "output.dir") return true;  // a run that was moved
  return key.starts_with("memory.") || key.starts_with("evaluate.");
}

// What was learnt in an epoch cannot be taken back.
void check_epochs(const fs::path& folder, std::int64_t epochs) {
  const fs::path file = folder / "epochs.csv";
  if (!fs::exists(file)) return;
  std::int64_t done = 0;
  for (const EpochRow& row : epoch_rows(read_csv(file), file.string())) done = std::max(done, row.epoch);
  if (done > epochs)
    fail(Exit::usage, "{}: --resume: the run there has {} epochs behind it; training.epochs cannot be {}",
         folder.string(), done, epochs);
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

}  // namespace

void check_run_folder(const Experiment& experiment, bool resume) {
  const fs::path& folder = experiment.run.output;
  check_writable(folder);
  std::error_code error;
  if (!fs::exists(folder, error) || fs::is_empty(folder, error)) return;
  const bool holds_run = fs::exists(folder / "experiment.yaml", error);
  if (!resume)
    fail(Exit::usage, "{}: {}; {}--out DIR writes elsewhere", folder.string(),
         holds_run ? "holds a run already" : "is not empty and holds no run",
         holds_run ? "--resume continues it, " : "");
  if (!holds_run) return;
  const Experiment before = load_run(folder);
  std::vector<std::string> changed = changed_keys(before.run, experiment.run);
  std::erase_if(changed, [&](const std::string& key) { return may_change(key, experiment.run); });
  if (!changed.empty())
    fail(Exit::usage,
         "{}: --resume: the run there was started with other values of {}; set them back, or choose another "
         "folder "
         "with --out DIR",
         folder.string(), join(changed, ", "));
  check_epochs(folder, experiment.run.training.epochs);
}

std::string ran_with(const RunOptions& options) {
  const std::unique_ptr<Backend> backend =
      open_device(options.memory.device, backend_options(options.training));
  std::string device = backend->description();
  std::replace(device.begin(), device.end(), '"', '\'');
  std::replace(device.begin(), device.end(), '\\', '/');
  return format(
      "ran_with:\n  voxswap: \"{}\"\n  commit: \"{}\"\n  started: \"{}\"\n  compiler: "
      "\"{}\"\n  backend: {}\n  device: \"{}\"\n  precision: {}\n  "
      "cores: {}\n",
      VOXSWAP_VERSION, VOXSWAP_COMMIT, now(), __VERSION__, backend->name(), device,
      element_name(choose_precision(*backend, options.training.precision)),
      std::thread::hardware_concurrency());
}

}  // namespace voxswap
