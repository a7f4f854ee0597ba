// Scores of label maps against ground truth.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace voxswap {

struct EvaluationOptions {
  // Names and label values of the regions to score; empty: one region per label value in the ground truth.
  std::vector<std::pair<std::string, std::vector<int>>> regions{};
  std::vector<std::string> metrics{"dice"};  // see docs/reference/metrics.md
  std::string empty = "brats";               // score of regions that are absent from a case: brats or nnunet
  bool partial = false;                      // skip cases without a prediction instead of failing
};

struct Score {
  std::string case_id, region;
  std::map<std::string, double> metrics;  // NaN: not defined for this case
};

// Compares files with the same name, CASE_seg or CASE-seg, in two folders, on the grid of the ground truth.
// Throws Exit::bad_data for a missing prediction or different grids.
std::vector<Score> evaluate(const std::string& truth, const std::string& prediction,
                            const EvaluationOptions& options = {});

}  // namespace voxswap
