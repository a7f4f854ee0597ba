// Logs for other programs during training (training.log): TensorBoard events in tensorboard/, and log.jsonl
// with a JSON line per step and epoch. The tables of a run are written elsewhere.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/journal.h"
#include "pipeline/cases/experiment.h"
#include "pipeline/record/event_file.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

struct StepNote {
  std::int64_t epoch = 1, step = 1, steps = 1;  // counted from 1; steps: per epoch
  std::int64_t total = 1;                       // steps since the start of training
  double loss = 0, learning_rate = 0, seconds = 0;
};

class RunLogs {
 public:
  RunLogs() = default;  // writes nothing
  // For a repeat whose next step is `step`, counted from 1 over all epochs. `resolved`: the experiment file.
  // Entries of this and later steps, logged by a process that stopped after its last checkpoint, are
  // discarded by TensorBoard.
  RunLogs(const Experiment& experiment, const std::string& resolved, std::int64_t repeat, std::int64_t epoch,
          std::int64_t step);

  void step(const StepNote& note);
  // True if images of validation cases are logged after this epoch: up to the tenth, then every tenth.
  bool takes_pictures(std::int64_t epoch) const;
  // Called after `total` steps. `scores`: validation Dice of regions, or accuracy.
  void epoch(const EpochRow& row, std::int64_t total,
             const std::vector<std::pair<std::string, double>>& scores);
  // An image of a validation case after `total` steps: bytes of a PNG.
  void picture(const std::string& case_id, std::int64_t total, const std::string& png);

 private:
  std::int64_t repeat_ = 1;
  EventFile events_;
  Journal lines_;
  bool writes_events_ = false, writes_lines_ = false;
};

// Logs the images of predictions (slices/) for TensorBoard, if enabled.
void log_pictures(const Experiment& experiment, const std::vector<std::string>& cases);

}  // namespace voxswap::pipeline
