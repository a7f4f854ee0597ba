// voxswap watch: follows a run of another process.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <thread>

#include "base/interrupt.h"
#include "base/standard_streams.h"
#include "base/terminal.h"
#include "cli/options.h"
#include "experiments/experiment.h"
#include "pipeline/report/run_progress.h"

namespace voxswap::cli {

namespace {

pipeline::RunProgress look(const std::string& folder) {
  return pipeline::run_progress(folder, experiments::read_settings_of_run);
}

std::size_t print_progress(const pipeline::RunProgress& progress, std::size_t columns) {
  const std::vector<std::string> lines = pipeline::progress_lines(progress, columns);
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

// Redraws the lines until the run or the user stops.
void follow(const std::string& folder, double every) {
  std::size_t drawn = 0;
  while (!interrupted()) {
    const pipeline::RunProgress progress = look(folder);
    if (drawn > 0) print_exactly(format("\033[{}A\033[J", drawn));  // cursor up, clear to the end
    const std::size_t columns = screen().columns;
    drawn = print_progress(progress, columns > 1 ? columns - 1 : columns);
    if (progress.state != pipeline::RunProgress::State::running) return;
    sleep_until_asked(every);
  }
}

}  // namespace

Exit watch_command(const Arguments& arguments) {
  CLI::App app(
      "Follow a run: losses, Dice, speed, memory. Ctrl-C stops watching, not the run. Without a terminal it "
      "prints once.",
      "voxswap watch");
  CommonOptions common;
  std::string folder;
  double every = 2;
  bool once = false;
  app.add_option("RUN_DIR", folder, "Folder of a run")->required();
  app.add_flag("--once", once, "Print once and stop");
  app.add_option("--every", every, "Seconds between updates")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  add_common(app, common, true);
  if (!parse(app, arguments, common)) return Exit::done;

  if (common.json)
    print_exactly(pipeline::progress_json(look(folder)).dump(2) + "\n");
  else if (once || ::isatty(STDOUT_FILENO) == 0)
    print_progress(look(folder), 100);
  else
    follow(folder, every);
  return Exit::done;
}

}  // namespace voxswap::cli
