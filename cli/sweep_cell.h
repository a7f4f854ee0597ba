// A cell of a sweep on disk: its command, whether it has finished, and its outcome.
//
// Its folder contains cell.yaml, the whole experiment with the command in the first line; log.txt, the output
// of the process; outcome.json, unless the process was killed; and the files that the command wrote.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "experiments/sweep.h"

namespace voxswap::cli {

struct CellOutcome {
  int exit = 0;
  double seconds = 0;   // run time of the process
  std::string message;  // last error message of a failed cell
};

// Throws Exit::usage that names the differing keys if the folder belongs to another experiment or command;
// Exit::failed if it is not a cell.
void check_cell(const experiments::SweepCell& cell, const std::string& command);

// The outcome of an earlier call; nullopt if there is none.
std::optional<CellOutcome> read_outcome(const experiments::SweepCell& cell);

// True if the cell need not run again: it succeeded, or does not fit and the command accepts that as a
// result.
bool is_settled(const CellOutcome& outcome, const std::string& command);

void begin_cell(const experiments::SweepCell& cell, const std::string& command);     // writes cell.yaml
CellOutcome end_cell(const experiments::SweepCell& cell, int exit, double seconds);  // writes outcome.json

// The arguments of the process, with memory keys set to its share of the machine.
std::vector<std::string> cell_arguments(const experiments::SweepCell& cell, const std::string& command,
                                        const std::vector<std::string>& overrides);
fs::path cell_log(const experiments::SweepCell& cell);

// Progress of a run: "epoch 3/20, Dice 0.412"; empty if unknown.
std::string cell_progress(const experiments::SweepCell& cell);

// The status of a cell of a sweep.
enum class CellState { waiting, running, done, failed };

struct CellStatus {
  CellState state = CellState::waiting;
  bool before = false;                 // by an earlier call
  std::optional<CellOutcome> outcome;  // of this or an earlier call
  double running_seconds = 0;
};

}  // namespace voxswap::cli
