// The training loop of one repeat: epochs, validation, schedule, checkpoints, and resuming an interrupted
// run.
#pragma once

#include <cstdint>
#include <string>

#include "pipeline/cases/cases.h"
#include "pipeline/cases/options.h"
#include "pipeline/cases/split.h"
#include "pipeline/device/benchmark.h"
#include "pipeline/device/session.h"
#include "pipeline/train/schedule.h"
#include "pipeline/train/training_tables.h"

namespace voxswap::pipeline {

struct TrainingResult {
  TrainingTables tables;   // of this repeat
  StepStatistics steps;    // of this process
  double utilization = 0;  // share of the epochs' training time during which kernels ran
  bool replanned = false;  // after its first steps, which disproved the costs
};

// `rows`: the tables of earlier repeats, which are written anew after every epoch with this repeat's rows
// appended. `left`: of all repeats, kept up to date. With options.resume it goes on from
// checkpoints/last.safetensors where there is one. A run that is interrupted writes a checkpoint and throws
// Exit::interrupted.
// The first steps are compared with the plan: where they differ by more than a fifth, or the costs are
// noisy, and enough remains to be trained, the session measures the costs again and plans anew, which changes
// no result.
TrainingResult train_repeat(const RunOptions& options, std::int64_t repeat, Session& session, Cases& cases,
                            const Split& split, const TrainingTables& rows, TimeLeft& left);

// The work of run and train, end to end. Everything is checked before anything is written. All functions
// throw Error.

// Split, prepare, train every repeat; writes experiment.yaml, split.csv, epochs.csv, validation.csv,
// timing.csv, plan.json, checkpoints/.
void train(const RunOptions& options);

// train(), then predict the validation cases with the best weights, evaluate and report.
void run(const RunOptions& options, const ReadSettings& read_settings);

}  // namespace voxswap::pipeline
