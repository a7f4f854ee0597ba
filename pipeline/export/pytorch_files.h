// A network for PyTorch: its weights as a safetensors file in PyTorch's shapes, and the Python file that
// loads them.
#pragma once

#include <string>

#include "pipeline/export/trained_network.h"

namespace voxswap::pipeline {

// With network.about as metadata. Of images, kernels are O,I,H,W and dense layers O,I.
Checkpoint pytorch_weights(const TrainedNetwork& network);

// The same for every network: what it is stands in the metadata.
std::string pytorch_model();

}  // namespace voxswap::pipeline
