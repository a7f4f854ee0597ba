// A trained network as a MONAI bundle: a folder that MONAI's `monai.bundle` runs, with the network in PyTorch
// (pytorch_model.py) between our preparation of images and our decision of labels (monai_steps.py).
#pragma once

#include <map>
#include <string>

#include "pipeline/export/trained_network.h"

namespace voxswap::pipeline {

inline constexpr const char* monai_weights = "models/model.safetensors";  // pytorch_weights()

// The other files by their names in the folder. Throws Exit::usage for networks of images and for volumes
// whose bias field is corrected, which have no such preparation in Python.
std::map<std::string, std::string> monai_files(const TrainedNetwork& network);

}  // namespace voxswap::pipeline
