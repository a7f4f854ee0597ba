// `voxswap predict --dry-run`: memory and time of a prediction, from its networks and the headers of its
// cases.
#pragma once

#include <vector>

#include "base/file.h"
#include "pipeline/predict/predictor.h"

namespace voxswap::pipeline {

// Reads no voxels. Loads the networks and measures one pass of each. A case counts with its whole grid, since
// its foreground is unknown.
PredictionForecast forecast_prediction(const std::vector<TrainedRun>& given, const fs::path& input,
                                       const PredictOptions& how);

}  // namespace voxswap::pipeline
