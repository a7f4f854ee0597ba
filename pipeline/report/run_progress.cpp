#include "pipeline/report/run_progress.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/folder_lock.h"
#include "base/keys.h"
#include "base/terminal.h"
#include "base/units.h"
#include "pipeline/report/figure.h"
#include "pipeline/report/lists.h"
#include "pipeline/report/read_runs.h"

namespace voxswap::pipeline {

namespace {

// Memory of a process on this machine that has locked the folder: VmRSS of /proc/PID/status, in kB.
std::optional<std::int64_t> resident_bytes(const fs::path& folder) {
  std::istringstream lock(read_if_possible(folder / ".lock"));
  std::int64_t process = 0;
  if (!(lock >> process)) return std::nullopt;
  std::istringstream status(read_if_possible(format("/proc/{}/status", process)));
  for (std::string word; status >> word;) {
    std::int64_t kilobytes = 0;
    if (word == "VmRSS:" && status >> kilobytes) return kilobytes * 1024;
  }
  return std::nullopt;
}

void take_epochs(RunProgress& progress, const std::vector<EpochRow>& rows) {
  if (rows.empty()) return;
  const EpochRow& last = progress.last = rows.back();
  progress.name = last.run;
  progress.repeat = last.repeat;
  progress.epoch = last.epoch;
  progress.planned_bytes = last.device_peak_bytes + last.host_peak_bytes;
  progress.epoch_seconds = mean_of(rows, &EpochRow::seconds);
  for (const EpochRow& row : rows) {
    if (row.repeat != last.repeat) continue;
    progress.train_losses.push_back(row.train_loss);
    progress.validation_losses.push_back(row.validation_loss);
  }
  for (const EpochRow& best : best_epochs(rows))
    if (best.repeat == last.repeat) progress.best_epoch = best.epoch;
}

void take_dice(RunProgress& progress, const std::vector<ValidationRow>& rows) {
  const auto counts = [&](const ValidationRow& row) {
    return row.repeat == progress.repeat && row.epoch <= progress.epoch;
  };
  for (const ValidationRow& mean : means_over_regions(rows))
    if (counts(mean)) progress.dice.push_back(mean.dice);
  for (const ValidationRow& row : rows)
    if (counts(row) && row.epoch == progress.epoch) progress.regions.emplace_back(row.region, row.dice);
}

RunProgress::State state_of(const RunProgress& progress, const fs::path& folder, std::size_t timed) {
  if (is_held(folder)) return RunProgress::State::running;
  if (fs::exists(folder / "dice.csv") || fs::exists(folder / "classes.csv"))
    return RunProgress::State::finished;
  return static_cast<std::int64_t>(timed) >= progress.repeats ? RunProgress::State::trained
                                                              : RunProgress::State::stopped;
}

const char* word_of(RunProgress::State state) {
  constexpr const char* words[] = {"running", "stopped", "trained", "finished"};
  return words[static_cast<std::size_t>(state)];
}

// Part of the last epoch.
std::string percent(double seconds, const EpochRow& last) {
  return format("{:.0f} %", last.seconds > 0 ? 100 * (seconds / last.seconds) : 0);
}

// "train loss      -0.7590  ▁▂▃"; the curve is cut to the line's width.
std::string curve_line(const char* what, const std::vector<double>& values, std::size_t columns) {
  const std::string text = format("{:<16} {:8.4f}  ", what, values.back());
  return text + sparkline(values, columns > text.size() ? columns - text.size() : 0);
}

std::string memory_line(const RunProgress& progress) {
  std::string line = format("{:<16} ", "memory");
  if (progress.resident_bytes)
    line += format("{} used by the process; ", format_bytes(*progress.resident_bytes));
  line += format("{} planned for steps", format_bytes(progress.planned_bytes));
  if (progress.budget_bytes > 0) line += format(", budget {}", format_bytes(progress.budget_bytes));
  return line;
}

}  // namespace

RunProgress run_progress(const fs::path& folder, const ReadSettings& read_settings) {
  const fs::path experiment = folder / "experiment.yaml";
  if (!fs::exists(experiment))
    fail(Exit::bad_data, "{}: {}. Expected the folder of a run, with experiment.yaml in it, or of a sweep",
         folder.string(), fs::exists(folder) ? "contains no experiment.yaml" : no_such_folder(folder));
  RunProgress progress;
  progress.name = fs::weakly_canonical(folder).filename().string();
  const RunFolder run = read_run(folder, read_settings);
  progress.epochs = parse_number<std::int64_t>(run.setting(key::training_epochs)).value_or(0);
  progress.repeats = parse_number<std::int64_t>(run.setting(key::training_repeats)).value_or(1);
  take_epochs(progress, run.epochs);
  take_dice(progress, run.validation);
  if (!run.memory.empty()) progress.budget_bytes = run.memory.back().budget_bytes;
  if (progress.epoch > 0)
    progress.seconds_since_epoch =
        std::max(0.0, std::difftime(std::time(nullptr), fs::last_write_time(folder / "epochs.csv")));
  progress.state = state_of(progress, folder, run.timing.size());
  if (progress.state == RunProgress::State::running) progress.resident_bytes = resident_bytes(folder);
  return progress;
}

std::optional<double> seconds_left(const RunProgress& progress) {
  if (progress.state != RunProgress::State::running || progress.epoch == 0 || progress.epochs == 0)
    return std::nullopt;
  const std::int64_t epochs =
      (progress.repeats - progress.repeat) * progress.epochs + progress.epochs - progress.epoch;
  const double begun = std::min(progress.seconds_since_epoch.value_or(0), progress.epoch_seconds);
  return std::max(0.0, static_cast<double>(epochs) * progress.epoch_seconds - (epochs > 0 ? begun : 0));
}

std::string sparkline(const std::vector<double>& values, std::size_t columns) {
  static constexpr const char* bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t first = values.size() > columns ? values.size() - columns : 0;
  Range range;
  for (std::size_t i = first; i < values.size(); ++i) range.include(values[i]);
  std::string text;
  for (std::size_t i = first; i < values.size(); ++i) {
    const double part = range.high > range.low ? (values[i] - range.low) / (range.high - range.low) : 0;
    text += std::isfinite(values[i]) ? bars[static_cast<std::size_t>(std::lround(7 * part))] : " ";
  }
  return text;
}

std::string progress_head(const RunProgress& progress) {
  std::string head = format("{}: {}", progress.name, word_of(progress.state));
  if (progress.epoch > 0) head += format(", epoch {}", progress.epoch);
  if (progress.epoch > 0 && progress.epochs > 0) head += format(" of {}", progress.epochs);
  if (progress.repeats > 1) head += format(", repeat {} of {}", progress.repeat, progress.repeats);
  if (const auto left = seconds_left(progress))
    head += format(", about {} of training left{}", format_seconds(*left),
                   progress.is_earlier_stage ? " on this grid" : "");
  return head;
}

std::vector<std::string> progress_lines(const RunProgress& progress, std::size_t columns) {
  std::vector<std::string> lines = {progress_head(progress)};
  if (progress.epoch == 0) {
    lines.push_back("no epoch is finished yet");
  } else {
    lines.push_back(curve_line("train loss", progress.train_losses, columns));
    lines.push_back(curve_line("validation loss", progress.validation_losses, columns));
    lines.push_back(format("{:<16} epoch {}", "best", progress.best_epoch));
    if (!progress.dice.empty()) lines.push_back(curve_line("Dice", progress.dice, columns));
    if (progress.regions.size() > 1)
      for (const auto& [region, dice] : progress.regions)
        lines.push_back(format("  {:.3f}  {}", dice, region));
    lines.push_back(format("{:<16} {:.2f} million voxels/s, {} per epoch; waited {} for data, {} for copies",
                           "speed", progress.last.megavoxels_per_second,
                           format_seconds(progress.epoch_seconds),
                           percent(progress.last.wait_seconds, progress.last),
                           percent(progress.last.stall_seconds, progress.last)));
    lines.push_back(memory_line(progress));
  }
  for (std::string& line : lines) line = cut_to_width(line, columns);
  return lines;
}

Json progress_json(const RunProgress& progress) {
  const auto known = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
  Json json = {{"name", progress.name},
               {"state", word_of(progress.state)},
               {"epoch", progress.epoch},
               {"epochs", progress.epochs},
               {"repeat", progress.repeat},
               {"repeats", progress.repeats},
               {"best_epoch", progress.best_epoch},
               {"train_losses", progress.train_losses},
               {"validation_losses", progress.validation_losses},
               {"dice", progress.dice},
               {"regions", Json::object()},
               {"learning_rate", progress.last.learning_rate},
               {"epoch_seconds", progress.epoch_seconds},
               {"megavoxels_per_second", progress.last.megavoxels_per_second},
               {"seconds_left", known(seconds_left(progress))},
               {"planned_bytes", progress.planned_bytes},
               {"budget_bytes", progress.budget_bytes},
               {"resident_bytes", known(progress.resident_bytes)}};
  for (const auto& [region, dice] : progress.regions) json["regions"][region] = dice;
  return json;
}

}  // namespace voxswap::pipeline
