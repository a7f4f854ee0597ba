// Exports a trained network as a MONAI bundle, which `monai.bundle` runs: the network in PyTorch
// (pytorch_model.py), with our preprocessing and label decoding (monai_steps.py).
#pragma once

#include <map>
#include <string>

#include "pipeline/export/trained_network.h"

namespace voxswap::pipeline {

inline constexpr const char* monai_weights = "models/model.safetensors";  // contents: pytorch_weights()

// All other files by name. Throws Exit::usage for 2D networks and for bias-corrected volumes, which the
// Python code does not support.
std::map<std::string, std::string> monai_files(const TrainedNetwork& network);

}  // namespace voxswap::pipeline
