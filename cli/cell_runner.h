// Runs cells of a sweep one at a time: in a share of this machine, or on another rank in a share of its
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

// A cell of the sweep, and the epoch after which it pauses; 0: it runs to the end.
struct CellTask {
  std::int64_t cell = 0, until = 0;
};

constexpr auto poll_interval = std::chrono::milliseconds(20);

class CellRunner {
 public:
  virtual ~CellRunner() = default;
  virtual void start(const CellTask& task) = 0;           // REQUIRES: no cell is running
  virtual std::optional<int> poll() = 0;                  // exit status once the running cell has ended
  virtual void interrupt() = 0;                           // like Ctrl-C
  virtual bool was_interrupted() const { return false; }  // by another process
  virtual void dismiss() {}                               // no more cells will be started
};

// Both store references to their arguments.
std::unique_ptr<CellRunner> run_here(const experiments::Sweep& sweep, const SweepShares& shares,
                                     std::size_t share);
std::unique_ptr<CellRunner> run_on_rank(net::Ranks& ranks, int rank);

// Counterpart of run_on_rank(): runs cells for rank 0 until it dismisses this rank.
void serve_cells(net::Ranks& ranks, CellRunner& here);

}  // namespace voxswap::cli
