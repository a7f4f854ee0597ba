// What a network gets right after an epoch: the loss, and Dice per region where the network computes. One
// trained on patches sees the volume in windows side by side; its loss is the mean of theirs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pipeline/cases/cases.h"
#include "pipeline/device/session.h"
#include "pipeline/predict/predict.h"

namespace voxswap::pipeline {

class Validation {
 public:
  Validation(const data::Dataset& dataset, const RunOptions& options);

  void add(Session& session, Cases& cases, std::size_t index);

  // Means over the cases so far. A region that is empty in truth and prediction counts as 1, in one of both
  // as 0: the rule `brats` of metrics/overlap.h.
  double loss() const;
  std::vector<std::pair<std::string, double>> dice() const;  // in the order of the data set's regions
  double mean_dice() const;

 private:
  const data::Dataset& dataset_;
  const RunOptions& options_;
  LabelDecoder decoder_;
  double loss_ = 0;
  std::vector<double> dice_;  // sums
  std::size_t count_ = 0;
};

}  // namespace voxswap::pipeline
