// The learning rate over the epochs, and early stopping: a small state that a checkpoint contains.
#pragma once

#include <cstdint>
#include <limits>

#include "pipeline/cases/options.h"

namespace voxswap::pipeline {

struct ScheduleState {
  double best_loss = std::numeric_limits<double>::infinity();  // of the validation, over all epochs
  double plateau_best = std::numeric_limits<double>::infinity();
  std::int64_t best_epoch = 0;
  std::int64_t waited = 0;  // epochs since the plateau's best, or since the last reduction
  double rate = 0;          // plateau only: the rate now
};

// Where schedules begin. linear: the optimizer's rate times batch_size / reference_batch (Goyal et al. 2017,
// "Accurate, large minibatch SGD"); sqrt: times the root of that (Krizhevsky 2014, "One weird trick"; for
// Adam Malladi et al. 2022, "On the SDEs and scaling rules for adaptive gradient algorithms").
double full_rate(const TrainingOptions& options);

// The rate for `epoch` (1 is the first). plateau: as reduced so far; poly: (1 - e/epochs)^0.9 (as nnU-Net);
// cosine: half a period from the full rate to 0; constant.
double learning_rate(const TrainingOptions& options, const ScheduleState& state, std::int64_t epoch);

// What each step takes of that: 1 / n, 2 / n, ... in the warm-up's n steps (the gradual warm-up of Goyal et
// al. 2017, from 0 on), all of it afterwards. `step` counts from 0 over all epochs, each of which has
// `steps_per_epoch`.
double warm_up_share(const TrainingOptions& options, std::int64_t step, std::int64_t steps_per_epoch);

// After an epoch. Returns whether it was the best so far. Plateau: after `patience` epochs that did not
// improve by 1e-4, the rate is multiplied by `factor` (Keras's ReduceLROnPlateau).
bool finish_epoch(const TrainingOptions& options, ScheduleState& state, std::int64_t epoch,
                  double validation_loss);

// `best_of_average`: the epoch in which the mean of the weights was best, where there is one; early stopping
// waits for what becomes of either.
bool should_stop(const TrainingOptions& options, const ScheduleState& state, std::int64_t epoch,
                 std::int64_t best_of_average = 0);

// The remaining time of a run, from the remaining work and the pace so far.
// Of all repeats and epochs together.
struct Work {
  std::int64_t steps = 0;
  std::int64_t validations = 0;  // of one case after one epoch
  std::int64_t predictions = 0;  // of one case with one repeat's weights
};

class TimeLeft {
 public:
  // `step_seconds`: as planned, until steps were timed. Until a validation was, it takes a third of a
  // volume's part of a step: a training step goes through the network forward and, at twice the cost,
  // backward.
  TimeLeft(const Work& whole, std::int64_t batch, double step_seconds);

  void stand_at(const Work& done) { done_ = done; }  // by whoever did it
  void timed_step(double seconds) { steps_.add(seconds); }
  void timed_validation(double seconds) { validations_.add(seconds); }

  // Early stopping may make it less.
  double seconds() const;

 private:
  struct Pace {
    double seconds = 0;
    std::int64_t count = 0;
    void add(double more);
    double each_or(double otherwise) const;
  };

  Work whole_, done_;
  std::int64_t batch_;
  double planned_step_;
  Pace steps_, validations_;
};

}  // namespace voxswap::pipeline
