// The training loop of one repeat: epochs, validation, schedule, checkpoints and resume.
#pragma once

#include <cstdint>
#include <string>

#include "pipeline/cases/cases.h"
#include "pipeline/cases/experiment.h"
#include "pipeline/cases/split.h"
#include "pipeline/device/benchmark.h"
#include "pipeline/device/session.h"
#include "pipeline/record/run_context.h"
#include "pipeline/train/schedule.h"
#include "pipeline/train/training_tables.h"

namespace voxswap::pipeline {

struct TrainingResult {
  TrainingTables tables;   // of this repeat
  StepStatistics steps;    // of this process
  double utilization = 0;  // share of the epochs' training time during which kernels ran
  bool replanned = false;  // after the first steps, because they disproved the costs
  bool paused = false;     // at RunContext::until, before the end
};

// `rows`: tables of the other repeats; after every epoch, the tables are rewritten with this repeat's rows.
// `left`: remaining time of all repeats, which is updated. With context.resume, continues from
// checkpoints/last.safetensors if it exists. An interrupted run writes a checkpoint and throws
// Exit::interrupted.
//
// Compares the first steps with the plan: if they differ by more than 20 %, or the costs are noisy, and
// enough training remains, the session measures costs again and replans, which does not change results.
TrainingResult train_repeat(const Experiment& experiment, const RunContext& context, std::int64_t repeat,
                            Session& session, Cases& cases, const Split& split, const TrainingTables& rows,
                            TimeLeft& left);

// Entry points of `run` and `train`. Everything is checked before anything is written. All functions throw
// Error.

// Splits, prepares and trains every repeat; writes experiment.yaml, split.csv, epochs.csv, validation.csv,
// timing.csv, plan.json, checkpoints/.
void train(const Experiment& experiment, const RunContext& context);

// Calls train(), predicts the validation cases with the best weights, scores them and writes the report. A
// paused run is only trained.
void run(const Experiment& experiment, const RunContext& context, const ReadSettings& read_settings);

}  // namespace voxswap::pipeline
