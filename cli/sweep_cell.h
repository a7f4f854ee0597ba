// A cell of a sweep on disk: its command, whether it is finished, and how it ended.
//
// Its folder holds cell.yaml, the whole experiment with the command as the first line; log.txt, what the
// process said; outcome.json when the process has ended by itself; and what the command wrote.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "experiments/sweep.h"

namespace voxswap::cli {

struct CellOutcome {
  int exit = 0;
  double seconds = 0;   // of the process that ended so
  std::string message;  // why it failed: its last error
};

// Throws Exit::usage when the cell's folder was made for something else than what is asked now, naming the
// keys; Exit::failed when it holds something that is no cell.
void check_cell(const experiments::SweepCell& cell, const std::string& command);

// How it ended before; nothing when it did not.
std::optional<CellOutcome> read_outcome(const experiments::SweepCell& cell);

// Whether that settles it: it is done, or it is known that it does not fit where that is an answer.
bool is_settled(const CellOutcome& outcome, const std::string& command);

void begin_cell(const experiments::SweepCell& cell, const std::string& command);     // writes cell.yaml
CellOutcome end_cell(const experiments::SweepCell& cell, int exit, double seconds);  // writes outcome.json

// The arguments of the process, with memory keys that its share of the machine settles.
std::vector<std::string> cell_arguments(const experiments::SweepCell& cell, const std::string& command,
                                        const std::vector<std::string>& overrides);
fs::path cell_log(const experiments::SweepCell& cell);

// How far a run is: "epoch 3/20, Dice 0.412"; empty where nothing is known.
std::string cell_progress(const experiments::SweepCell& cell);

// The status of a cell of a sweep.
enum class CellState { waiting, running, done, failed };

struct CellStatus {
  CellState state = CellState::waiting;
  bool before = false;                 // settled by an earlier call
  std::optional<CellOutcome> outcome;  // of this call, or what settled it before
  double running_seconds = 0;
};

}  // namespace voxswap::cli
