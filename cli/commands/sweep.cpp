// voxswap sweep: runs every combination of values, in parallel if requested; can be resumed; writes one
// report.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/csv.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/own_folder.h"
#include "base/standard_streams.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/options.h"
#include "cli/sweep_jobs.h"
#include "cli/sweep_rounds.h"
#include "cli/tables.h"
#include "data/layouts/open_dataset.h"
#include "library/run_folder.h"
#include "net/collective/launched.h"
#include "pipeline/cases/split.h"
#include "pipeline/plan/forecast.h"
#include "pipeline/predict/postprocessing.h"
#include "pipeline/report/lists.h"
#include "pipeline/report/read_runs.h"
#include "pipeline/sweep/sweep_output.h"
#include "pipeline/sweep/sweep_results.h"

namespace voxswap::cli {

namespace {

struct SweepArguments {
  ExperimentArguments where;
  CommonOptions common;
  std::string jobs, part, memory;
  bool dry_run = false, estimate = false;
};

void declare(CLI::App& app, SweepArguments& arguments) {
  add_experiment(app, arguments.where);
  app.get_option("key=value")->description("Keys that override the file; comma-separated values are swept");
  app.add_option("--out", arguments.where.out,
                 "Folder of the sweep (output.dir), with a folder for every cell");
  app.add_option("--jobs", arguments.jobs,
                 "Cells that run in parallel (auto: one per GPU, MPI rank or Slurm task)")
      ->check(CLI::Validator(
          [](std::string& text) {
            return text == "auto" ? "" : CLI::Range(std::int64_t{1}, std::int64_t{1024})(text);
          },
          "auto or 1 to 1024"));
  app.add_option("--part", arguments.part,
                 "K/N: run every N-th cell, starting with the K-th (for job arrays)");
  app.add_option("--memory", arguments.memory,
                 "Memory for all cells together, e.g. 12GiB (default: free memory minus a reserve)");
  app.add_flag("--dry-run", arguments.dry_run,
               "Print the cells with their memory, disk and time, without running them");
  app.add_flag("--estimate", arguments.estimate,
               "Plan with typical costs instead of measured ones (dry runs)");
  add_common(app, arguments.common, true);
}

// Makes one split for all cells, which refer to its file; an existing split is kept.
void fix_split(const experiments::Sweep& sweep) {
  if (sweep.command != "run" || sweep.draws_splits || fs::exists(experiments::split_file(sweep))) return;
  const data::Dataset dataset = pipeline::open_dataset(sweep.base);
  const pipeline::Split split = pipeline::make_split(dataset, sweep.base.split);
  pipeline::write_split(experiments::split_file(sweep), dataset, split);
}

pipeline::SweepResults results_of(const experiments::Sweep& sweep, const std::vector<std::int64_t>& stopped) {
  const std::vector<CellStatus> statuses = recorded_cells(sweep);
  pipeline::SweepResults results;
  results.title = sweep.title.empty() ? sweep.base.name : sweep.title;
  results.command = sweep.command;
  results.columns = sweep.columns;
  results.plot = sweep.plot;
  results.published = sweep.published;
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const experiments::SweepCell& cell = sweep.cells[i];
    const CellStatus& status = statuses[i];
    const bool is_stopped = stopped[i] > 0 && status.outcome && status.outcome->until > 0;
    if (status.state != CellState::done && !is_stopped) {
      const bool failed = status.state == CellState::failed;
      results.failures.push_back(
          format("{}: {}", cell.name, failed ? status.outcome->message : "was not completed"));
      continue;
    }
    const pipeline::Experiment& experiment = cell.experiment;
    results.cells.push_back(
        {cell.name, cell.values, experiment.output, pipeline::megavoxels_per_step(experiment),
         static_cast<double>(sweep.volumes) / static_cast<double>(experiment.training.batch_size),
         status.outcome->exit == 0, is_stopped ? pipeline::stopped_text(stopped[i]) : status.outcome->message,
         is_stopped});
  }
  return results;
}

// If cells make their own splits, the best cell's split is kept for other experiments. Not with folds, which
// are one experiment together.
void choose_split(const experiments::Sweep& sweep, const pipeline::SweepResults& results) {
  if (sweep.command != "run" || !sweep.draws_splits) return;
  const pipeline::SplitOptions& split = sweep.cells.front().experiment.split;
  if (split.folds > 0 || !split.file.empty()) return;
  const std::string best = pipeline::best_cell(results);
  if (best.empty()) return;
  write_file(experiments::split_file(sweep), read_file(sweep.base.output / best / "split.csv"));
  log::info("{} has the highest Dice: its split is saved as {}", best,
            experiments::split_file(sweep).string());
}

// Logs failures and returns their exit code: that of the cells if they agree.
Exit print_failures(const experiments::Sweep& sweep, const Part& part) {
  std::vector<int> exits;
  for (const experiments::SweepCell& cell : items_of(sweep.cells, part)) {
    const std::optional<CellOutcome> outcome = read_outcome(cell);
    if (!outcome || outcome->exit == 0 || is_settled(*outcome, sweep.command)) continue;
    exits.push_back(outcome->exit);
    log::error("{}: failed with exit code {}: {}. Details in {}", cell.name, outcome->exit,
               outcome->message.empty() ? "no message" : outcome->message, cell_log(cell).string());
  }
  if (exits.empty()) return Exit::done;
  for (const int exit : exits)
    if (exit != exits[0] || exit > static_cast<int>(Exit::does_not_fit)) return Exit::failed;
  return static_cast<Exit>(exits[0]);
}

// Searches post-processing over all cells if they are folds of one experiment.
void find_postprocessing(const experiments::Sweep& sweep) {
  using pipeline::Decides;
  std::vector<pipeline::Experiment> runs;
  bool in_folds = false;
  for (const experiments::SweepCell& cell : sweep.cells) {
    const pipeline::Experiment& run = cell.experiment;
    if (!pipeline::stop_of(run.output).empty()) continue;
    if (!fs::exists(run.output / "dice.csv") ||
        run.evaluate.postprocessing == pipeline::FindPostprocessing::none)
      return;
    runs.push_back(run);
    for (const pipeline::Setting& setting : experiments::changed_settings(runs.front(), run)) {
      if (pipeline::distinguishes_models(setting.decides) || setting.decides == Decides::resolution) return;
      in_folds = in_folds || setting.decides == Decides::fold;
    }
  }
  if (!in_folds) return;
  const data::Dataset dataset = pipeline::open_dataset(runs.front());
  if (!dataset.classes) pipeline::write_postprocessing(runs, dataset, sweep.base.output);
}

void merge(const experiments::Sweep& sweep, bool json) {
  const fs::path& out = sweep.base.output;
  const pipeline::HalvedSweep decided = halved(sweep);
  record_stops(sweep, decided);
  pipeline::SweepResults results = results_of(sweep, decided.stopped);
  results.halving = decided.rows;
  pipeline::write_halving(results, out);
  const bool has_any = std::any_of(results.cells.begin(), results.cells.end(),
                                   [](const pipeline::CellResult& cell) { return !cell.stopped; });
  if (!has_any) return;
  choose_split(sweep, results);
  if (sweep.command == "run" && results.failures.empty()) find_postprocessing(sweep);
  pipeline::write_sweep_results(results, out, experiments::read_settings_of_run);
  if (json) {
    Json summary = {{"report", (out / "report.html").string()},
                    {"cells", table_json(read_csv(out / "sweep.csv"))}};
    if (!results.halving.empty()) summary["halving"] = table_json(pipeline::csv_of(results.halving));
    print_exactly(summary.dump(2) + "\n");
    return;
  }
  for (const char* name : {"sweep.csv", "halving.csv", "report.html"})
    if (fs::exists(out / name)) print("{}\n", (out / name).string());
}

// Runs `work` under the lock of the whole sweep; processes with different parts take turns.
template <class Work>
void together(const experiments::Sweep& sweep, const Part& part, Work work) {
  std::optional<SweepLock> lock;
  if (!part.is_whole()) lock.emplace(sweep.base.output, "", true);
  work(sweep);
}

// Commands that are given the sweep's folder use all cells in it.
void warn_of_other_cells(const experiments::Sweep& sweep) {
  std::vector<std::string> others;
  for (const fs::path& folder : library::cells_in(sweep.base.output))
    if (std::ranges::none_of(sweep.cells, [&](const experiments::SweepCell& cell) {
          return cell.name == folder.filename().string();
        }))
      others.push_back(folder.filename().string());
  if (!others.empty())
    log::warn(
        "{}: also has {} of an earlier sweep ({}). `predict`, `report` and `watch` of this folder use all of "
        "them. To keep sweeps apart, choose another --out",
        sweep.base.output.string(), counted(others.size(), "cell"), pipeline::listed(others, 4));
}

Exit run_sweep(const experiments::Sweep& sweep, const SweepShares& shares, const Part& part, bool json) {
  net::Ranks& ranks = net::launched_ranks();
  const std::vector<CellPlace> places = cell_places(sweep, shares, ranks);
  if (!ranks.is_first()) {
    const std::size_t share = net::launched_place().index;
    if (share < shares.shares.size()) serve_cells(ranks, *run_here(sweep, shares, share));
    return Exit::done;
  }
  for (const experiments::SweepCell& cell : items_of(sweep.cells, part)) check_cell(cell, sweep.command);
  make_writable_directory(sweep.base.output);
  const SweepLock lock(sweep.base.output, part.name(), false);
  const OwnFolder own(sweep.base.output, !library::cells_in(sweep.base.output).empty());
  if (part.is_whole()) warn_of_other_cells(sweep);
  together(sweep, part, fix_split);
  if (!run_rounds(sweep, part, places)) {
    log::warn("interrupted; the same command continues the sweep");
    return Exit::interrupted;
  }
  together(sweep, part, [&](const experiments::Sweep& whole) { merge(whole, json); });
  return print_failures(sweep, part);
}

std::int64_t jobs_of(const std::string& text) {
  const bool on_ranks = net::launched_count() > 1;
  if (text == "auto" || (text.empty() && on_ranks)) return one_per_device;
  if (on_ranks)
    fail(Exit::usage, "--jobs {}: launched with {}, each of which runs one cell at a time. Leave --jobs out",
         text, counted(net::launched_count(), "rank"));
  return parse_number<std::int64_t>(text).value_or(1);
}

// If this is a Slurm job with several tasks that have not been started, replaces this process by the srun
// that starts them.
void start_tasks_of_slurm(const Arguments& words) {
  const char* const tasks = std::getenv("SLURM_NTASKS");
  const bool started = std::getenv("SLURM_STEP_ID") != nullptr;
  if (tasks == nullptr || std::atoi(tasks) < 2 || started || net::launched_count() > 1) return;
  Arguments all = {"srun", "--mpi=pmix", "--wait=5"};
  if (const char* const cores = std::getenv("SLURM_CPUS_PER_TASK"))  // srun ignores this variable
    all.push_back(format("--cpus-per-task={}", cores));
  all.insert(all.end(), {fs::read_symlink("/proc/self/exe").string(), "sweep"});
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  for (std::string& word : all) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  log::info("{} of Slurm, each with one cell at a time", counted(std::atoi(tasks), "task"));
  ::execvp(pointers[0], pointers.data());
  fail(Exit::failed, "srun cannot be started: {}", std::strerror(errno));
}

}  // namespace

Exit sweep_command(const Arguments& words) {
  CLI::App app(
      "Run an experiment for every combination of values, e.g. preprocess.resolution=96,112. Finished cells "
      "are skipped, interrupted ones resume, and all share one split.",
      "voxswap sweep");
  SweepArguments arguments;
  declare(app, arguments);
  if (!parse(app, words, arguments.common)) return Exit::done;
  if (arguments.jobs == "auto" && !arguments.dry_run) start_tasks_of_slurm(words);

  const experiments::Sweep sweep =
      experiments::load_sweep(arguments.where.file, arguments.where.overrides, arguments.where.out);
  warn_of_keys_without_effect(sweep.base);
  const std::int64_t memory =
      arguments.memory.empty() ? 0 : value_of("--memory", [&] { return parse_bytes(arguments.memory); });
  const std::int64_t jobs = jobs_of(arguments.jobs);
  const SweepShares shares =
      net::launched_count() > 1 ? share_among_ranks(sweep, memory) : share_machine(sweep, jobs, memory);
  const Part part = part_of(arguments.part);
  if (!arguments.dry_run) return run_sweep(sweep, shares, part, arguments.common.json);
  const bool json = arguments.common.json;
  experiments::Sweep mine = sweep;
  mine.cells = items_of(sweep.cells, part);
  if (!part.is_whole()) mine.rungs.clear();  // they are of all cells
  const std::string text = sweep_forecast(mine, shares, arguments.estimate, json);
  json ? print_exactly(text) : print(text);
  return Exit::done;
}

}  // namespace voxswap::cli
