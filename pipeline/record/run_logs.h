// Logs for other programs during training (training.log): events for TensorBoard in tensorboard/, and
// log.jsonl, a line of JSON per step and epoch. The tables of a run are written separately.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/journal.h"
#include "pipeline/cases/options.h"
#include "pipeline/record/event_file.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

struct StepNote {
  std::int64_t epoch = 1, step = 1, steps = 1;  // from 1, of so many in the epoch
  std::int64_t total = 1;                       // steps since the beginning
  double loss = 0, learning_rate = 0, seconds = 0;
};

class RunLogs {
 public:
  RunLogs() = default;  // of nothing
  // Of a repeat whose next step is number `step` of all, counted from 1: 1 where it begins. What was noted of
  // that step and later ones, by a process that was stopped behind its checkpoint, does not count any more.
  RunLogs(const RunOptions& options, std::int64_t repeat, std::int64_t epoch, std::int64_t step);

  void step(const StepNote& note);
  // Whether pictures of validation cases after this epoch are wanted: each up to the tenth, then every tenth.
  bool takes_pictures(std::int64_t epoch) const;
  // After so many steps; `scores` are those of the validation: Dice of regions, or the accuracy.
  void epoch(const EpochRow& row, std::int64_t total,
             const std::vector<std::pair<std::string, double>>& scores);
  // Of a validation case after so many steps: the bytes of a PNG.
  void picture(const std::string& case_id, std::int64_t total, const std::string& png);

 private:
  std::int64_t repeat_ = 1;
  EventFile events_;
  Journal lines_;
  bool writes_events_ = false, writes_lines_ = false;
};

// The pictures of a run's predictions (slices/), for TensorBoard; nothing where it was not asked for.
void log_pictures(const RunOptions& options, const std::vector<std::string>& cases);

}  // namespace voxswap::pipeline
