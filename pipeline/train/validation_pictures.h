// Predictions of the first validation cases during training: slices with ground truth and prediction as
// outlines, for logs with pictures.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "data/layouts/dataset.h"
#include "pipeline/train/validation.h"

namespace voxswap::pipeline {

class ValidationPictures {
 public:
  explicit ValidationPictures(const data::Dataset& dataset) : dataset_(dataset) {}

  // For validate(): makes pictures of the first three cases that it shows, on the grid on which the network
  // computes.
  Look look();
  // Ids of cases and the bytes of their PNGs, since the last time.
  std::vector<std::pair<std::string, std::string>> take() { return std::exchange(made_, {}); }

 private:
  const data::Dataset& dataset_;
  std::vector<std::pair<std::string, std::string>> made_;
};

}  // namespace voxswap::pipeline
