// The position of a training, in a checkpoint's metadata.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "pipeline/record/checkpoint.h"
#include "pipeline/train/schedule.h"
#include "swap/plan/plan.h"

namespace voxswap::pipeline {

// Everything a checkpoint holds of it beside tensors.
struct Position {
  std::int64_t epoch = 1;  // in progress
  std::int64_t step = 0;   // of the epoch, done
  std::int64_t total_steps = 0;
  double loss_sum = 0;  // over the epoch's steps so far
  double train_seconds = 0, wait_seconds = 0;
  bool finished = false;
  double stall_seconds = 0;
  swap::PlanTotals
      moved;  // of which epochs.csv has the bytes to and from the host, and what was computed again
  ScheduleState schedule;
};

std::map<std::string, std::string> to_metadata(const Position& position);

// Throws Exit::bad_data, naming `where`, for one that a training of so many epochs, of so many steps each,
// never comes to.
Position to_position(const Checkpoint& checkpoint, std::int64_t epochs, std::int64_t steps_per_epoch,
                     const std::string& where);

}  // namespace voxswap::pipeline
