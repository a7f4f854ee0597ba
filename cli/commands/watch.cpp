// voxswap watch: follows a run or a sweep of another process.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <thread>

#include "base/folder_lock.h"
#include "base/interrupt.h"
#include "base/standard_streams.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/options.h"
#include "cli/sweep_jobs.h"
#include "experiments/experiment.h"
#include "library/run_folder.h"
#include "pipeline/report/run_progress.h"

namespace voxswap::cli {

namespace {

using pipeline::RunProgress;

// A run, or a sweep with the runs that it has begun.
struct Watched {
  std::string sweep{};  // its name; empty for a run
  bool running = false;
  std::vector<RunProgress> runs{};
};

Watched look(const fs::path& folder) {
  const auto progress_of = [](const fs::path& run) {
    return pipeline::run_progress(run, experiments::read_settings_of_run);
  };
  Watched watched;
  for (const fs::path& cell : library::cells_in(folder))
    if (fs::exists(cell / "experiment.yaml")) watched.runs.push_back(progress_of(cell));
  if (watched.runs.empty()) {
    fs::path run = folder;  // or what it trains first
    while (!fs::exists(run / "experiment.yaml") && fs::exists(pipeline::growth_folder(run)))
      run = pipeline::growth_folder(run);
    watched.runs.push_back(progress_of(run));
    watched.runs.back().is_earlier_stage = run != folder;
    watched.running = is_held(folder);
  } else {
    watched.sweep = fs::weakly_canonical(folder).filename().string();
    watched.running = is_sweeping(folder);
  }
  return watched;
}

// All of a run; of a sweep all of the runs that are running, and a line of each other run.
std::vector<std::string> lines_of(const Watched& watched, std::size_t columns) {
  if (watched.sweep.empty()) return pipeline::progress_lines(watched.runs.front(), columns);
  std::vector<std::string> lines = {format("{}: {}, {} started", watched.sweep,
                                           watched.running ? "running" : "not running",
                                           counted(std::ssize(watched.runs), "run"))};
  for (const RunProgress& run : watched.runs) {
    if (run.state == RunProgress::State::running) {
      lines.emplace_back();
      for (std::string& line : pipeline::progress_lines(run, columns)) lines.push_back(std::move(line));
    } else {
      lines.push_back(pipeline::progress_head(run));
      const auto best = static_cast<std::size_t>(run.best_epoch);
      if (best > 0 && best <= run.dice.size())
        lines.back() += format(", best Dice {:.3f}", run.dice[best - 1]);
    }
  }
  for (std::string& line : lines) line = cut_to_width(line, columns);
  return lines;
}

Json json_of(const Watched& watched) {
  if (watched.sweep.empty()) return pipeline::progress_json(watched.runs.front());
  Json json = {{"name", watched.sweep}, {"state", watched.running ? "running" : "stopped"}};
  for (const RunProgress& run : watched.runs) json["runs"].push_back(pipeline::progress_json(run));
  return json;
}

std::size_t print_lines(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) print("{}\n", line);
  std::fflush(stdout);
  return lines.size();
}

// Sleeps in short intervals, so that an interrupt takes effect quickly.
void sleep_until_asked(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!interrupted() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

// Redraws the lines until the run, the sweep or the user stops.
void follow(const fs::path& folder, double every) {
  std::size_t drawn = 0;
  while (!interrupted()) {
    const Watched watched = look(folder);
    if (drawn > 0) print_exactly(format("\033[{}A\033[J", drawn));  // cursor up, clear to the end
    const std::size_t columns = screen().columns;
    drawn = print_lines(lines_of(watched, columns > 1 ? columns - 1 : columns));
    if (!watched.running) return;
    sleep_until_asked(every);
  }
}

}  // namespace

Exit watch_command(const Arguments& arguments) {
  CLI::App app(
      "Follow a run or a sweep: losses, Dice, speed, memory. Ctrl-C stops watching only. Without a terminal "
      "it prints once.",
      "voxswap watch");
  CommonOptions common;
  std::string folder;
  double every = 2;
  bool once = false;
  app.add_option("RUN_DIR", folder, "Folder of a run or a sweep")->required();
  app.add_flag("--once", once, "Print once and stop");
  app.add_option("--every", every, "Seconds between updates")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  add_common(app, common, true);
  if (!parse(app, arguments, common)) return Exit::done;

  if (common.json)
    print_exactly(json_of(look(folder)).dump(2) + "\n");
  else if (once || ::isatty(STDOUT_FILENO) == 0)
    print_lines(lines_of(look(folder), 100));
  else
    follow(folder, every);
  return Exit::done;
}

}  // namespace voxswap::cli
