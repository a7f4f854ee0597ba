#include "cli/sweep_rounds.h"

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "pipeline/report/read_runs.h"

namespace voxswap::cli {

namespace {

using pipeline::CellRecord;
using pipeline::HalvedSweep;
using pipeline::RoundCell;

CellRecord record_of(const experiments::SweepCell& cell) {
  const pipeline::TrainingOptions& training = cell.experiment.training;
  CellRecord record{.name = cell.name, .setting = cell.setting, .epochs = training.epochs};
  const std::optional<CellOutcome> outcome = read_outcome(cell);
  if (!outcome) return record;
  pipeline::RecordedScores recorded = pipeline::recorded_scores(cell.experiment.output, training.repeats);
  record.finished = outcome->exit == 0 && outcome->until == 0;
  record.failed = outcome->exit != 0;
  record.reached = record.failed ? recorded.epochs : outcome->until;
  record.scores = std::move(recorded.by_epoch);
  return record;
}

// "epoch 6", or "epochs 6 to 12" of cells with different numbers of epochs.
std::string epochs_text(const std::vector<RoundCell>& cells) {
  const auto [least, most] = std::minmax_element(
      cells.begin(), cells.end(), [](const RoundCell& a, const RoundCell& b) { return a.until < b.until; });
  return least->until == most->until ? format("epoch {}", least->until)
                                     : format("epochs {} to {}", least->until, most->until);
}

void log_round(const HalvedSweep& now) {
  if (now.rounds == 1) return;
  log::info("round {} of {}: {} to {}", now.round, now.rounds, counted(now.cells.size(), "cell"),
            now.round == now.rounds ? "the end" : epochs_text(now.cells));
}

void log_decision(const HalvedSweep& next) {
  std::string best;
  std::size_t kept = 0, all = 0;
  for (const pipeline::HalvingRow& row : next.rows) {
    if (row.round != next.round - 1) continue;
    ++all;
    kept += row.decision == "kept" ? 1 : 0;
    if (best.empty() && row.rank == 1) best = format("{} ({:.3f})", row.cell, row.setting_score);
  }
  log::info("{} of {} continue; the best is {}", kept, counted(all, "cell"), best);
}

// A round that was run and is still open.
void explain_open_round(const HalvedSweep& next, const Part& part) {
  const auto open =
      std::count_if(next.cells.begin(), next.cells.end(), [](const RoundCell& at) { return !at.settled; });
  if (open == 0)
    fail(Exit::bad_data,
         "sweep.stop: no cell has a validation score at {}, so halving cannot choose. Set sweep.stop=none",
         epochs_text(next.cells));
  if (!part.is_whole())
    log::info(
        "round {} of {} is not complete: {} of other parts did not reach {}. Run this part again when they "
        "have ended",
        next.round, next.rounds, counted(static_cast<std::size_t>(open), "cell"), epochs_text(next.cells));
}

}  // namespace

Part part_of(const std::string& text) {
  if (text.empty()) return {};
  const std::size_t slash = text.find('/');
  const auto number = parse_number<std::size_t>(text.substr(0, slash));
  const auto of = parse_number<std::size_t>(slash == text.npos ? "" : text.substr(slash + 1));
  if (!number || !of || *number < 1 || *number > *of)
    fail(Exit::usage, "--part: expected K/N with K from 1 to N, such as 2/8, found '{}'", text);
  return {*number, *of};
}

HalvedSweep halved(const experiments::Sweep& sweep) {
  std::vector<CellRecord> records;
  for (const experiments::SweepCell& cell : sweep.cells)
    records.push_back(sweep.rungs.empty() ? CellRecord{.name = cell.name, .setting = cell.setting}
                                          : record_of(cell));
  return pipeline::halve(records, sweep.rungs);
}

bool run_rounds(const experiments::Sweep& sweep, const Part& part, const std::vector<CellPlace>& places) {
  bool completed = false;
  for (HalvedSweep now = halved(sweep);;) {
    log_round(now);
    const std::vector<RoundCell> mine = items_of(now.cells, part);
    completed = mine.empty() || run_cells(sweep, mine, places);
    if (!completed || now.round == now.rounds) break;
    HalvedSweep next = halved(sweep);
    if (next.round == now.round) {
      explain_open_round(next, part);
      break;
    }
    now = std::move(next);
    log_decision(now);
  }
  for (const CellPlace& place : places) place.runner->dismiss();
  return completed;
}

void record_stops(const experiments::Sweep& sweep, const HalvedSweep& halved) {
  for (std::size_t i = 0; i < sweep.cells.size(); ++i) {
    std::optional<CellOutcome> outcome = read_outcome(sweep.cells[i]);
    if (!outcome || outcome->until == 0) continue;
    const std::int64_t epoch = halved.stopped[i];
    const std::string message = epoch > 0 ? pipeline::stopped_text(epoch) : "";
    if (message != std::exchange(outcome->message, message)) write_outcome(sweep.cells[i], *outcome);
  }
}

std::string halving_forecast(const experiments::Sweep& sweep, const std::vector<double>& seconds) {
  if (sweep.rungs.empty()) return "";
  const std::vector<pipeline::Rung>& rungs = sweep.rungs;
  std::vector<std::vector<double>> epochs(rungs.front().settings, std::vector<double>(rungs.size() + 1)),
      times = epochs;
  double all_epochs = 0, all_seconds = 0;
  for (std::size_t i = 0; i < sweep.cells.size(); ++i) {
    const pipeline::TrainingOptions& training = sweep.cells[i].experiment.training;
    for (std::size_t k = 0; k <= rungs.size(); ++k) {
      const auto until = static_cast<double>(
          k < rungs.size() ? pipeline::rung_epoch(training.epochs, rungs[k]) : training.epochs);
      epochs[sweep.cells[i].setting][k] += until * static_cast<double>(training.repeats);
      times[sweep.cells[i].setting][k] += seconds[i] * until / static_cast<double>(training.epochs);
    }
    all_epochs += static_cast<double>(training.epochs * training.repeats);
    all_seconds += seconds[i];
  }
  std::string text;
  for (std::size_t k = 0; k < rungs.size(); ++k)
    text += format("round {}: {} to 1/{} of the epochs, {} of them continue\n", k + 1,
                   counted(rungs[k].settings, "setting"), rungs[k].divisor, rungs[k].kept);
  const double most = pipeline::most_cost(epochs, rungs), longest = pipeline::most_cost(times, rungs);
  return text + format(
                    "round {}: {} to the end\nat most {:.0f} of {:.0f} epochs are trained ({:.0f} %), about "
                    "{} of {}\n",
                    rungs.size() + 1, counted(rungs.back().kept, "setting"), most, all_epochs,
                    100 * most / all_epochs, format_seconds(longest), format_seconds(all_seconds));
}

}  // namespace voxswap::cli
