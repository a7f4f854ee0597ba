// The mean of the weights that a training goes through, beside the weights themselves, which it does not
// change: what predicts may be better than where a step happened to end.
//
// ema: after every step the mean goes 1 - d of its way to the weights (Polyak & Juditsky 1992, "Acceleration
// of stochastic approximation by averaging"; Tarvainen & Valpola 2017, "Mean teachers are better role
// models"), d = min(decay, (1 + t) / (10 + t)) after t steps (as TensorFlow's moving averages), so that it
// soon forgets where it began. swa: the plain mean of the weights after each epoch (Izmailov et al. 2018,
// "Averaging weights leads to wider optima and better generalization").
//
// It is kept in f32 in the host's memory, as large as the weights, on every rank the same.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "pipeline/cases/options.h"
#include "pipeline/device/session.h"

namespace voxswap::pipeline {

// The epoch with which it begins, as the experiment says; else ema the first, swa the first of the last
// quarter.
std::int64_t averaged_from(const TrainingOptions& training);
// How often cases are validated in the first `epochs` epochs: once each, and once more with the mean.
std::int64_t validations(const TrainingOptions& training, std::int64_t epochs);

class WeightAverage {
 public:
  // Takes its memory at once, none where the experiment wants no mean.
  WeightAverage(const TrainingOptions& training, Session& session);

  // What the epoch's step, or all of its steps, did to the weights becomes part of the mean. The second may
  // be called again for the same epoch.
  void after_step(std::int64_t epoch);
  void after_epoch(std::int64_t epoch);
  bool has_begun() const { return standing_.count > 0; }

  // The session gets the mean for its weights, and the mean's place keeps those; the next call changes them
  // back.
  void exchange();

  // Of the mean, after an epoch. Returns whether it was the best so far.
  bool finish_epoch(std::int64_t epoch, double validation_loss);
  std::int64_t best_epoch() const { return standing_.best_epoch; }

  std::vector<Tensor> weights() const;  // the mean, under the names of the parameters
  std::int64_t bytes() const;

  // What the last checkpoint holds of it, NAME.average for every parameter once it has begun, and the way
  // back; that throws Exit::bad_data, naming `where`, for one that no training left.
  void add_to(Checkpoint& last) const;
  void check(const Checkpoint& last, const std::string& where) const;
  void load(const Checkpoint& last, const std::string& where);

 private:
  struct Standing {
    std::int64_t count = 0;  // of the weights that the mean is of
    std::int64_t best_epoch = 0;
    double best_loss = std::numeric_limits<double>::infinity();
  };
  Standing standing(const Checkpoint& last, const std::string& where) const;
  void add(double share);

  const TrainingOptions& training_;
  Session& session_;
  std::vector<std::vector<float>> mean_;  // of each parameter; empty where none is wanted
  std::vector<float> one_;                // as large as the largest
  Standing standing_;
};

}  // namespace voxswap::pipeline
