// Learning rate schedules and early stopping; their small state is part of a checkpoint.
#pragma once

#include <cstdint>
#include <limits>

#include "pipeline/cases/experiment.h"

namespace voxswap::pipeline {

struct ScheduleState {
  double best_loss = std::numeric_limits<double>::infinity();  // lowest validation loss of all epochs
  double plateau_best = std::numeric_limits<double>::infinity();
  std::int64_t best_epoch = 0;
  std::int64_t waited = 0;  // epochs since the plateau's best loss or the last reduction
  double rate = 0;          // plateau only: current rate
};

// Base rate of the schedule. linear: the optimiser's rate times batch_size / reference_batch (Goyal et al.
// 2017, "Accurate, large minibatch SGD"); sqrt: times the square root of this ratio (Krizhevsky 2014, "One
// weird trick"; for Adam Malladi et al. 2022, "On the SDEs and scaling rules for adaptive gradient
// algorithms").
double full_rate(const TrainingOptions& options);

// The rate for `epoch` (counted from 1). plateau: as reduced so far; poly: (1 - e/epochs)^0.9, as in nnU-Net;
// cosine: half a period from the base rate to 0; constant.
double learning_rate(const TrainingOptions& options, const ScheduleState& state, std::int64_t epoch);

// The fraction of the rate for a step: 1 / n, 2 / n, ... during the n steps of the warm-up (gradual warm-up
// of Goyal et al. 2017), then 1. `step` counts from 0 over all epochs of `steps_per_epoch` steps.
double warm_up_share(const TrainingOptions& options, std::int64_t step, std::int64_t steps_per_epoch);

// Updates the state after an epoch; returns true if it was the best so far. Plateau: after `patience` epochs
// without an improvement of 1e-4, multiplies the rate by `factor` (as Keras's ReduceLROnPlateau).
bool finish_epoch(const TrainingOptions& options, ScheduleState& state, std::int64_t epoch,
                  double validation_loss);

// `best_of_average`: best epoch of the averaged weights, if any. Early stopping requires that neither weights
// nor average improve.
bool should_stop(const TrainingOptions& options, const ScheduleState& state, std::int64_t epoch,
                 std::int64_t best_of_average = 0);

// Estimates the remaining time of a run from the remaining work and the pace so far. Includes all repeats and
// epochs.
struct Work {
  std::int64_t steps = 0;
  std::int64_t validations = 0;  // validations of one case
  std::int64_t predictions = 0;  // predictions of one case by one repeat
};

class TimeLeft {
 public:
  // `step_seconds`: planned step time, used until steps have been timed. Until a validation has been timed,
  // it is assumed to take a third of a sample's share of a step, since the backward pass costs twice the
  // forward pass.
  TimeLeft(const Work& whole, std::int64_t batch, double step_seconds);

  void stand_at(const Work& done) { done_ = done; }  // sets the completed work
  void timed_step(double seconds) { steps_.add(seconds); }
  void timed_validation(double seconds) { validations_.add(seconds); }

  // Early stopping may reduce it.
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
