// Divides this machine, or the machines of all ranks, among cells of a sweep that run in parallel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/sweep.h"
#include "net/collective/ranks.h"
#include "pipeline/sweep/sweep_shares.h"

namespace voxswap::cli {

// The shares of a machine.
struct SweepShares {
  std::vector<pipeline::MachineShare> shares;
  std::int64_t host_bytes = 0;  // sum of all shares
  bool on_gpus = false;
  std::int64_t asked = 1;  // --jobs
};
constexpr std::int64_t one_per_device = 0;  // --jobs auto

// Throws Exit::usage if cells set a GPU by number and therefore cannot run in parallel.
SweepShares share_machine(const experiments::Sweep& sweep, std::int64_t jobs, std::int64_t host_bytes);
// The shares of the ranks on this machine; with GPUs, there may be fewer shares than ranks.
SweepShares share_among_ranks(const experiments::Sweep& sweep, std::int64_t host_bytes);

// Overrides of memory keys that keep a cell within its share; empty if there is a single share.
std::vector<std::string> share_overrides(const experiments::SweepCell& cell, const SweepShares& shares,
                                         const pipeline::MachineShare& share);

// A share of any machine, as seen by the process that distributes cells.
struct CellShare {
  int rank = 0;
  std::string machine;          // shares of a machine also share its memory
  std::int64_t host_bytes = 0;  // of this share
  bool on_gpus = false;
};
// Collective. The shares of all ranks; a rank without a GPU of its own has none.
std::vector<CellShare> all_shares(net::Ranks& ranks, const SweepShares& here);

}  // namespace voxswap::cli
