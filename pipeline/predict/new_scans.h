// `voxswap predict`: predicts new cases, without ground truth, with the weights of a finished run.
#pragma once

#include <vector>

#include "base/file.h"
#include "pipeline/cases/options.h"
#include "pipeline/predict/predictor.h"

namespace voxswap::pipeline {

// Label maps for the cases of `input` (a data set, or one case: a folder or a 4D file), on their own grids,
// with the weights of finished runs.
// Of one run with several repeats a folder for each, or, with how.ensemble, one mean; of several runs, which
// are alike (predict.h), one mean of all. Probabilities go to OUT/probabilities/CASE_OUTPUT.nii.gz.
void predict(const std::vector<RunOptions>& runs, const fs::path& input, const fs::path& out,
             const PredictOptions& how);

}  // namespace voxswap::pipeline
