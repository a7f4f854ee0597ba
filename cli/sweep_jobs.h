// Runs the cells of a sweep, several in parallel, each as a process within its share of a machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "cli/cell_runner.h"
#include "cli/sweep_cell.h"

namespace voxswap::cli {

// A place where one cell at a time runs.
struct CellPlace {
  std::unique_ptr<CellRunner> runner;
  CellShare share;
};
// The shares of this machine, or one on every rank. All ranks call this.
std::vector<CellPlace> cell_places(const experiments::Sweep& sweep, const SweepShares& here,
                                   net::Ranks& ranks);

// What was run to its end, by whomever, as far as it goes.
std::vector<CellStatus> settled_cells(const experiments::Sweep& sweep);

struct SweptCells {
  std::vector<CellStatus> statuses;
  bool interrupted = false;
};
// Runs what is not settled. When the user interrupts it, the running cells are interrupted, each leaving a
// state that a later call takes up, and waited for; they are `waiting` then.
SweptCells run_cells(const experiments::Sweep& sweep, const std::vector<CellPlace>& places);

// A lock on a sweep's folder: one sweep at a time, or one for each part of its cells.
// Held by this process and, inherited, by the cells' processes: whoever comes after a sweep that was killed
// waits until they have ended.
class SweepLock {
 public:
  // On the file `name` in the folder. What to do where a living process holds it: `waits` for it, as what it
  // does is brief, or throw Exit::failed.
  SweepLock(const fs::path& folder, const std::string& name, bool waits);
  ~SweepLock();
  SweepLock(const SweepLock&) = delete;
  SweepLock& operator=(const SweepLock&) = delete;

 private:
  bool holder_lives() const;

  fs::path file_;
  int descriptor_ = -1;
};

}  // namespace voxswap::cli
