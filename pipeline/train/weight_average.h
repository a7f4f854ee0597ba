// Averages weights during training without affecting training itself; the average often predicts better than
// the weights of a single step.
//
// ema: exponential moving average after every step (Polyak & Juditsky 1992, "Acceleration of stochastic
// approximation by averaging"; Tarvainen & Valpola 2017, "Mean teachers are better role models") with decay
// min(decay, (1 + t) / (10 + t)) after t steps, as in TensorFlow, so that the initial weights are forgotten
// quickly. swa: the mean of the weights after each epoch (Izmailov et al. 2018, "Averaging weights leads to
// wider optima and better generalization").
//
// The average is stored in f32 in host memory, identically on every rank.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "pipeline/cases/experiment.h"
#include "pipeline/device/session.h"

namespace voxswap::pipeline {

// First averaged epoch: as configured; by default 1 for ema, and the first of the last quarter for swa.
std::int64_t averaged_from(const TrainingOptions& training);
// Number of validations in the first `epochs` epochs: one per epoch, plus one with the average.
std::int64_t validations(const TrainingOptions& training, std::int64_t epochs);

class WeightAverage {
 public:
  // Allocates its memory; none without averaging.
  WeightAverage(const TrainingOptions& training, Session& session);

  // Update the average after a step or an epoch. after_epoch() may be called again for the same epoch.
  void after_step(std::int64_t epoch);
  void after_epoch(std::int64_t epoch);
  bool has_begun() const { return standing_.count > 0; }

  // Swaps the session's weights with the average; the next call swaps them back.
  void exchange();

  // Records the validation loss of the average; returns true if it was the best so far.
  bool finish_epoch(std::int64_t epoch, double validation_loss);
  std::int64_t best_epoch() const { return standing_.best_epoch; }

  std::vector<Tensor> weights() const;  // the average, with the parameters' names
  std::int64_t bytes() const;

  // Store the average in the last checkpoint (NAME.average for every parameter, once it has begun) and
  // restore it. check() and load() throw Exit::bad_data that names `where` for an invalid one.
  void add_to(Checkpoint& last) const;
  void check(const Checkpoint& last, const std::string& where) const;
  void load(const Checkpoint& last, const std::string& where);

 private:
  struct Standing {
    std::int64_t count = 0;  // number of averaged weights
    std::int64_t best_epoch = 0;
    double best_loss = std::numeric_limits<double>::infinity();
  };
  Standing standing(const Checkpoint& last, const std::string& where) const;
  void add(double share);

  const TrainingOptions& training_;
  Session& session_;
  std::vector<std::vector<float>> mean_;  // per parameter; empty without averaging
  std::vector<float> one_;                // buffer for the largest parameter
  Standing standing_;
};

}  // namespace voxswap::pipeline
