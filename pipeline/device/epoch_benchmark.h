// Measures the parts of an epoch on random cases: making samples, training steps, and both at once, to see
// whether loading keeps the device busy.
#pragma once

#include <cstdint>
#include <string>

#include "pipeline/cases/experiment.h"
#include "pipeline/device/session.h"

namespace voxswap::pipeline {

struct EpochBenchmark {
  std::string card;  // its predicted step time stands in for steps; empty: steps were measured
  bool device_makes_samples = false;
  std::int64_t loader_threads = 0;
  double samples_per_second = 0;  // made by the loader threads, or drawn by them and made by the device
  double steps_per_second = 0;    // samples per second of steps alone, on one fixed batch
  double both_per_second = 0;     // samples per second of steps with loader threads, as in training
  double wait_share = 0;          // fraction of that time in which steps waited for samples
  double device_busy = 0;         // fraction of that time in which kernels ran

  // Whether training is within 5 % of the steps alone.
  bool loading_keeps_up() const { return both_per_second >= 0.95 * steps_per_second; }
};

// Each part takes two seconds or `steps` batches, whichever is longer, but at most a minute after a warm-up.
// REQUIRES: steps >= 1; a training session on a single rank.
EpochBenchmark benchmark_epoch(const Experiment& experiment, Session& session, const StepData& data,
                               std::int64_t steps);
// The predicted times of a card, for a batch.
struct CardSeconds {
  double step = 0, samples = 0;
};
// For a card that need not be here, and which makes samples and steps one after the other: a wait of their
// predicted time takes their place.
EpochBenchmark benchmark_epoch(const Experiment& experiment, const std::string& card,
                               const CardSeconds& seconds, const StepData& data, std::int64_t steps);

}  // namespace voxswap::pipeline
