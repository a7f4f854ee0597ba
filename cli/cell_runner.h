// Runs cells of a sweep one at a time: in a share of this machine, or on another rank in its share of its
// machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cli/cell_shares.h"
#include "net/collective/ranks.h"

namespace voxswap::cli {

constexpr auto poll_interval = std::chrono::milliseconds(20);

class CellRunner {
 public:
  virtual ~CellRunner() = default;
  virtual void start(std::size_t cell) = 0;  // REQUIRES: none runs here
  virtual std::optional<int> poll() = 0;     // the exit status of the one that ran, once it has ended
  virtual void interrupt() = 0;              // as Ctrl-C does, the one that runs
  virtual bool was_interrupted() const { return false; }  // by somebody else than this process
  virtual void dismiss() {}                               // there will be no more
};

// Both keep what they are given by reference.
std::unique_ptr<CellRunner> run_here(const experiments::Sweep& sweep, const SweepShares& shares,
                                     std::size_t share);
std::unique_ptr<CellRunner> run_on_rank(net::Ranks& ranks, int rank);

// The other side of run_on_rank(): runs here what rank 0 asks for, until it dismisses this rank.
void serve_cells(net::Ranks& ranks, CellRunner& here);

}  // namespace voxswap::cli
