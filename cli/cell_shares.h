// Shares of this machine, or of the machines of ranks, for cells of a sweep that run in parallel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/sweep.h"
#include "net/collective/ranks.h"
#include "pipeline/sweep/sweep_shares.h"

namespace voxswap::cli {

// Where the machine is shared: what was cut, and on what.
struct SweepShares {
  std::vector<pipeline::MachineShare> shares;
  std::int64_t host_bytes = 0;  // for all of them together
  bool on_gpus = false;
  std::int64_t asked = 1;  // --jobs
};
constexpr std::int64_t one_per_device = 0;  // --jobs auto

// Throws Exit::usage when cells are bound to a GPU by their number and could not run at once.
SweepShares share_machine(const experiments::Sweep& sweep, std::int64_t jobs, std::int64_t host_bytes);
// The shares of the ranks on this machine; on GPUs they may be fewer than the ranks.
SweepShares share_among_ranks(const experiments::Sweep& sweep, std::int64_t host_bytes);

// The memory keys that hold a cell within its share, as overrides; none where there is one share.
std::vector<std::string> share_overrides(const experiments::SweepCell& cell, const SweepShares& shares,
                                         const pipeline::MachineShare& share);

// A share of some machine, as the process sees it that hands cells out.
struct CellShare {
  int rank = 0;
  std::string machine;          // shares of one machine have its memory together
  std::int64_t host_bytes = 0;  // of the share
  bool on_gpus = false;
};
// Those of all ranks; a rank for which there is no GPU has none. All ranks call this.
std::vector<CellShare> all_shares(net::Ranks& ranks, const SweepShares& here);

}  // namespace voxswap::cli
