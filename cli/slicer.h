// voxswap predict as a module of 3D Slicer (docs/how_to/slicer.md).
#pragma once

#include <string>
#include <vector>

#include "voxswap/predict.h"

namespace voxswap::cli {

// The parameters of `voxswap predict` in XML of the Slicer Execution Model.
std::string slicer_description();

// Predicts the label map of one image. `shows_progress`: print the progress to standard output in Slicer's
// format.
void predict_image(const std::vector<std::string>& runs, const std::string& input,
                   const std::string& label_map, const PredictOptions& options,
                   const std::vector<std::string>& overrides, bool shows_progress);

}  // namespace voxswap::cli
