// Runs the cells of a sweep, several in parallel, each as a process within its share of a machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "cli/cell_runner.h"
#include "cli/sweep_cell.h"

namespace voxswap::cli {

// A place that runs one cell at a time.
struct CellPlace {
  std::unique_ptr<CellRunner> runner;
  CellShare share;
};
// Collective. The shares of this machine, or one on every rank.
std::vector<CellPlace> cell_places(const experiments::Sweep& sweep, const SweepShares& here,
                                   net::Ranks& ranks);

// The status of all cells as recorded by any process: done, failed, or waiting, also if paused.
std::vector<CellStatus> recorded_cells(const experiments::Sweep& sweep);

// Runs the cells of a round that are not settled. On an interrupt, interrupts the running cells, waits for
// them and returns false; they can be resumed by a later call.
bool run_cells(const experiments::Sweep& sweep, const std::vector<pipeline::RoundCell>& round,
               const std::vector<CellPlace>& places);

// A lock on a sweep's folder for the whole sweep or for each part of its cells. Inherited by the cells'
// processes, so that the next sweep waits until cells of a killed sweep have ended.
class SweepLock {
 public:
  // `part`: the name of a part of the cells; empty: the whole sweep. If a living process holds the lock:
  // waits if `waits` is set, since it is only held briefly, otherwise throws Exit::failed.
  SweepLock(const fs::path& folder, const std::string& part, bool waits);
  ~SweepLock();
  SweepLock(const SweepLock&) = delete;
  SweepLock& operator=(const SweepLock&) = delete;

 private:
  bool holder_is_alive() const;

  fs::path file_;
  int descriptor_ = -1;
};
// True while any process holds such a lock, also between two cells.
bool is_sweeping(const fs::path& folder);

}  // namespace voxswap::cli
