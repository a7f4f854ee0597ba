// Runs the cells of a sweep, several at once, each as a process of its own within its share of the machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/cell_status.h"
#include "cli/sweep_cell.h"
#include "pipeline/sweep/sweep_shares.h"

namespace voxswap::cli {

// Where the machine is shared: what was cut, and on what.
struct SweepShares {
  std::vector<pipeline::MachineShare> shares;
  std::int64_t host_bytes = 0;  // for all of them together
  bool on_gpus = false;
  std::int64_t asked = 1;  // --jobs
};
// Throws Exit::usage when cells are bound to a GPU by their number and could not run at once.
SweepShares share_machine(const experiments::Sweep& sweep, std::int64_t jobs, std::int64_t host_bytes);

// The memory keys that hold a cell within its share, as overrides; none where there is one share.
std::vector<std::string> share_overrides(const experiments::SweepCell& cell, const SweepShares& shares,
                                         const pipeline::MachineShare& share);

// Runs what is not settled. When the user interrupts it, the running cells are interrupted, each leaving a
// state that a later call takes up, and waited for; they are `waiting` then.
std::vector<CellStatus> run_cells(const experiments::Sweep& sweep, const SweepShares& shares);

}  // namespace voxswap::cli
