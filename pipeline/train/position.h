// The position within a training, stored in a checkpoint's metadata.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "pipeline/record/checkpoint.h"
#include "pipeline/train/schedule.h"
#include "swap/plan/plan.h"

namespace voxswap::pipeline {

// Everything that a checkpoint contains besides tensors.
struct Position {
  std::int64_t epoch = 1;  // current epoch
  std::int64_t step = 0;   // completed steps of the epoch
  std::int64_t total_steps = 0;
  double loss_sum = 0;  // over the epoch's completed steps
  double train_seconds = 0, wait_seconds = 0;
  bool finished = false;
  double stall_seconds = 0;
  swap::PlanTotals moved;  // totals for epochs.csv: bytes to and from the host, recomputed nodes
  ScheduleState schedule;
};

std::map<std::string, std::string> to_metadata(const Position& position);

// Throws Exit::bad_data that names `where` for a position that is impossible with this number of epochs and
// steps.
Position to_position(const Checkpoint& checkpoint, std::int64_t epochs, std::int64_t steps_per_epoch,
                     const std::string& where);

}  // namespace voxswap::pipeline
