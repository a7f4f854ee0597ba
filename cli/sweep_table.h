// The progress of a sweep: a table that is redrawn on a terminal, a line per event elsewhere, nothing with
// --quiet.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/cell_status.h"
#include "experiments/sweep.h"

namespace voxswap::cli {

class SweepTable {
 public:
  explicit SweepTable(const experiments::Sweep& sweep);

  void started(std::size_t cell);
  void ended(std::size_t cell, const CellStatus& status);
  void show(const std::vector<CellStatus>& statuses);    // not more often than is of use
  void finish(const std::vector<CellStatus>& statuses);  // the last time

 private:
  void draw(const std::vector<CellStatus>& statuses);

  const experiments::Sweep& sweep_;
  bool terminal_;
  std::size_t lines_ = 0;  // on the screen
  std::chrono::steady_clock::time_point drawn_{};
};

}  // namespace voxswap::cli
