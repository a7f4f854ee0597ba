// voxswap predict as a module of 3D Slicer (docs/how_to/slicer.md).
#pragma once

#include <string>
#include <vector>

#include "voxswap/predict.h"

namespace voxswap::cli {

// The parameters of `voxswap predict` by the Slicer Execution Model.
std::string slicer_description();

// The label map of one image, into one file. `tells`: writes the model's progress to standard output.
void predict_image(const std::vector<std::string>& runs, const std::string& input,
                   const std::string& label_map, const PredictOptions& options, bool tells);

}  // namespace voxswap::cli
