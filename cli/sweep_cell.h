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
  double seconds = 0;      // run time of its processes
  std::string message;     // last error message of a failed cell; of a stopped one, pipeline::stopped_text()
  std::int64_t until = 0;  // it was paused after this epoch; 0: not paused
};

// Throws Exit::usage that names the differing keys if the folder belongs to another experiment or command;
// Exit::failed if it is not a cell.
void check_cell(const experiments::SweepCell& cell, const std::string& command);

// The outcome of an earlier call; nullopt if there is none.
std::optional<CellOutcome> read_outcome(const experiments::SweepCell& cell);

// True if the cell need not run again: it succeeded, or does not fit and the command accepts that as a
// result. `until`: the epoch at which it may be paused; 0: the end.
bool is_settled(const CellOutcome& outcome, const std::string& command, std::int64_t until = 0);

// Writes cell.yaml. Until the cell ends, its outcome is that of the previous round, at epoch `reached`; 0:
// none.
void begin_cell(const experiments::SweepCell& cell, const std::string& command, std::int64_t reached);
// Writes outcome.json. `until`: as for the process.
CellOutcome end_cell(const experiments::SweepCell& cell, int exit, double seconds, std::int64_t until);
void write_outcome(const experiments::SweepCell& cell, const CellOutcome& outcome);

// The arguments of the process, with memory keys set to its share of the machine. `until`: the epoch after
// which it pauses; 0: it runs to the end.
std::vector<std::string> cell_arguments(const experiments::SweepCell& cell, const std::string& command,
                                        const std::vector<std::string>& overrides, std::int64_t until);
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
