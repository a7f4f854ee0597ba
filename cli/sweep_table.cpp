#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "base/log.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/tables.h"

namespace voxswap::cli {

namespace {

bool quiet() {
  return log::level() > log::Level::info;
}

std::string outcome_text(const CellStatus& status) {
  const CellOutcome& outcome = *status.outcome;
  if (outcome.exit == static_cast<int>(Exit::does_not_fit) && status.state == CellState::done)
    return "does not fit";
  if (status.state == CellState::failed) return "failed: " + outcome.message;
  return format("{} in {}{}", outcome.until > 0 ? format("epoch {}", outcome.until) : "done",
                format_seconds(outcome.seconds), status.before ? ", before" : "");
}

std::string state_text(const experiments::SweepCell& cell, const CellStatus& status) {
  switch (status.state) {
    case CellState::waiting:
      return "waiting";
    case CellState::running: {
      const std::string progress = cell_progress(cell);
      return format("running, {}{}", format_seconds(status.running_seconds),
                    progress.empty() ? "" : ", " + progress);
    }
    case CellState::done:
    case CellState::failed:
      return outcome_text(status);
  }
  return "";
}

std::string summary(const std::vector<CellStatus>& statuses) {
  std::size_t counts[4] = {};
  for (const CellStatus& status : statuses) ++counts[static_cast<std::size_t>(status.state)];
  std::string text = format("{} of {} done", counts[2], counted(statuses.size(), "cell"));
  if (counts[1] > 0) text += format(", {} running", counts[1]);
  if (counts[3] > 0) text += format(", {} failed", counts[3]);
  return text;
}

}  // namespace

SweepTable::SweepTable(std::vector<const experiments::SweepCell*> cells)
    : cells_(std::move(cells)), terminal_(draws_on_terminal()) {}

void SweepTable::started(std::size_t cell) {
  if (!terminal_) log::info("{} ({} of {}): started", cells_[cell]->name, cell + 1, cells_.size());
}

void SweepTable::ended(std::size_t cell, const CellStatus& status) {
  if (!terminal_) log::info("{}: {}", cells_[cell]->name, outcome_text(status));
}

void SweepTable::show(const std::vector<CellStatus>& statuses) {
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ || quiet() || now - drawn_ < std::chrono::milliseconds(500)) return;
  drawn_ = now;
  draw(statuses);
}

void SweepTable::finish(const std::vector<CellStatus>& statuses) {
  if (terminal_ && !quiet())
    draw(statuses);
  else
    log::info("{}", summary(statuses));
}

// On a short screen, running and failed cells have priority, then finished ones, then waiting ones.
void SweepTable::draw(const std::vector<CellStatus>& statuses) {
  const Screen size = screen();
  std::vector<std::size_t> shown;
  const std::size_t room = size.lines > 4 ? size.lines - 3 : 1;
  for (const CellState state : {CellState::running, CellState::failed, CellState::done, CellState::waiting})
    for (std::size_t i = 0; i < statuses.size(); ++i)
      if (statuses[i].state == state && shown.size() < room) shown.push_back(i);
  std::sort(shown.begin(), shown.end());
  std::size_t width = 0;
  for (const std::size_t i : shown) width = std::max(width, cells_[i]->name.size());
  std::string text = lines_ > 0 ? format("\r\033[{}A\033[J", lines_) : "";
  for (const std::size_t i : shown) {
    const std::string line =
        format("{:<{}}  {}", cells_[i]->name, width, state_text(*cells_[i], statuses[i]));
    text += cut_to_width(line, size.columns - 1) + "\n";
  }
  text += cut_to_width(summary(statuses), size.columns - 1) + "\n";
  lines_ = shown.size() + 1;
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace voxswap::cli
