// The status of a cell of a sweep.
#pragma once

#include <optional>

#include "cli/sweep_cell.h"

namespace voxswap::cli {

enum class CellState { waiting, running, done, failed };

struct CellStatus {
  CellState state = CellState::waiting;
  bool before = false;                 // settled by an earlier call
  std::optional<CellOutcome> outcome;  // of this call, or what settled it before
  double running_seconds = 0;
};

}  // namespace voxswap::cli
