// voxswap sweep: every combination, restartable, several at once, one report.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "base/error.h"
#include "base/file.h"
#include "base/filesystem.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/units.h"
#include "cli/options.h"
#include "cli/sweep_forecast.h"
#include "cli/sweep_jobs.h"
#include "data/layouts/open_dataset.h"
#include "pipeline/cases/split.h"
#include "pipeline/plan/forecast.h"
#include "pipeline/sweep/sweep_output.h"
#include "pipeline/sweep/sweep_results.h"

namespace voxswap::cli {

namespace {

struct SweepArguments {
  ExperimentArguments where;
  CommonOptions common;
  std::int64_t jobs = 1;
  std::string memory;
  bool dry_run = false, estimate = false;
};

void declare(CLI::App& app, SweepArguments& arguments) {
  add_experiment(app, arguments.where);
  app.get_option("key=value")
      ->description(
          "keys, set here instead of in the file; several values, separated by commas, are swept over");
  app.add_option("--out", arguments.where.out,
                 "the sweep's folder (output.dir), a folder in it for every cell");
  app.add_option("--jobs", arguments.jobs,
                 "cells at once, each with its part of memory and cores, or its GPU")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1024}));
  app.add_option(
      "--memory", arguments.memory,
      "what cells together may take of the machine's memory, e.g. 12GiB; else what is free, less a "
      "reserve");
  app.add_flag("--dry-run", arguments.dry_run,
               "print the cells with their memory, disk and time; write nothing");
  app.add_flag("--estimate", arguments.estimate, "of a dry run: measure nothing, costs of a usual machine");
  add_common(app, arguments.common);
}

// Held by this process and, inherited, by the cells' processes: whoever comes after a sweep that was killed
// waits until they have ended.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& folder) : file_(folder / ".sweep.lock") {
    descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT, 0666);
    if (descriptor_ < 0)
      fail(Exit::failed, "{}: cannot be written: {}", file_.string(), std::strerror(errno));
    for (int tenths = 0; ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0; ++tenths) {
      if (holder_lives() || tenths > 1200)
        fail(Exit::failed,
             "{}: another sweep is at work there; let it end, or choose another folder with --out",
             folder.string());
      if (tenths == 0) log::info("waiting for the cells of a sweep that was killed to end");
      throw_if_interrupted();
      ::usleep(100000);
    }
    const std::string me = std::to_string(::getpid()) + "\n";
    if (::ftruncate(descriptor_, 0) != 0 || ::pwrite(descriptor_, me.data(), me.size(), 0) < 0)
      fail(Exit::failed, "{}: cannot be written: {}", file_.string(), std::strerror(errno));
  }
  ~FolderLock() { ::close(descriptor_); }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  bool holder_lives() const {
    const pid_t holder = std::atoi(read_file(file_).c_str());
    return holder > 0 && (::kill(holder, 0) == 0 || errno == EPERM);
  }

  fs::path file_;
  int descriptor_ = -1;
};

// One split for all cells, drawn once and kept; they are pointed to the file.
void fix_split(const experiments::Sweep& sweep) {
  if (sweep.command != "run" || sweep.draws_splits || fs::exists(experiments::split_file(sweep))) return;
  const data::Dataset dataset = data::open_dataset(sweep.base.run.data);
  const pipeline::Split split = pipeline::make_split(dataset, sweep.base.run.split);
  pipeline::write_split(experiments::split_file(sweep), dataset, split);
}

pipeline::SweepResults results_of(const experiments::Sweep& sweep, const std::vector<CellStatus>& statuses) {
  pipeline::SweepResults results;
  results.title = sweep.title.empty() ? sweep.base.run.name : sweep.title;
  results.command = sweep.command;
  results.columns = sweep.columns;
  results.plot = sweep.plot;
  results.published = sweep.published;
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const experiments::SweepCell& cell = sweep.cells[i];
    const CellStatus& status = statuses[i];
    if (status.state != CellState::done) {
      results.failures.push_back(
          format("{}: {}", cell.name, status.outcome ? status.outcome->message : "was not run to its end"));
      continue;
    }
    const pipeline::RunOptions& run = cell.experiment.run;
    results.cells.push_back(
        {cell.name, cell.values, run.output, pipeline::megavoxels_per_step(run),
         static_cast<double>(sweep.volumes) / static_cast<double>(run.training.batch_size),
         status.outcome->exit == 0, status.outcome->message});
  }
  return results;
}

// Where cells draw their splits, the best one's is what other experiments may be run with.
void choose_split(const experiments::Sweep& sweep, const pipeline::SweepResults& results) {
  if (sweep.command != "run" || !sweep.draws_splits) return;
  const std::string best = pipeline::best_cell(results);
  if (best.empty()) return;
  write_file(experiments::split_file(sweep), read_file(sweep.base.run.output / best / "split.csv"));
  log::info("{}: has the highest Dice; its split is now {}", best, experiments::split_file(sweep).string());
}

// What went wrong, and the exit code that tells it: the cells' own where they agree.
Exit tell_failures(const experiments::Sweep& sweep, const std::vector<CellStatus>& statuses) {
  std::vector<int> exits;
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    if (statuses[i].state != CellState::failed) continue;
    const CellOutcome& outcome = *statuses[i].outcome;
    exits.push_back(outcome.exit);
    log::error("{}: failed with exit code {}: {}; more in {}", sweep.cells[i].name, outcome.exit,
               outcome.message.empty() ? "it gave no message" : outcome.message,
               cell_log(sweep.cells[i]).string());
  }
  if (exits.empty()) return Exit::done;
  for (const int exit : exits)
    if (exit != exits[0] || exit > static_cast<int>(Exit::does_not_fit)) return Exit::failed;
  return static_cast<Exit>(exits[0]);
}

Exit run_sweep(const experiments::Sweep& sweep, const SweepShares& shares) {
  const fs::path& out = sweep.base.run.output;
  for (const experiments::SweepCell& cell : sweep.cells) check_cell(cell, sweep.command);
  make_writable_directory(out);
  const FolderLock lock(out);
  fix_split(sweep);
  const std::vector<CellStatus> statuses = run_cells(sweep, shares);
  if (interrupted()) {
    log::warn("interrupted; the same command goes on where it stopped");
    return Exit::interrupted;
  }
  const pipeline::SweepResults results = results_of(sweep, statuses);
  if (!results.cells.empty()) {
    choose_split(sweep, results);
    pipeline::write_sweep_results(results, out, experiments::read_settings_of_run);
    for (const char* name : {"sweep.csv", "report.html"}) std::printf("%s\n", (out / name).string().c_str());
  }
  return tell_failures(sweep, statuses);
}

}  // namespace

Exit sweep_command(const Arguments& words) {
  CLI::App app(
      "Run an experiment for every combination of values, e.g. preprocess.resolution=96,112 or a `sweep:` in "
      "the file. Cells that are finished are not run again, one that was cut off goes on; one split for all.",
      "voxswap sweep");
  SweepArguments arguments;
  declare(app, arguments);
  if (!parse(app, words, arguments.common)) return Exit::done;

  const experiments::Sweep sweep =
      experiments::load_sweep(arguments.where.file, arguments.where.overrides, arguments.where.out);
  warn_of_keys_without_effect(sweep.base);
  const std::int64_t memory =
      arguments.memory.empty() ? 0 : value_of("--memory", [&] { return parse_bytes(arguments.memory); });
  const SweepShares shares = share_machine(sweep, arguments.jobs, memory);
  if (!arguments.dry_run) return run_sweep(sweep, shares);
  std::fputs(sweep_forecast(sweep, shares, arguments.estimate).c_str(), stdout);
  return Exit::done;
}

}  // namespace voxswap::cli
