// Weights of another program for one of our networks: all parameters in their shapes, and nothing else.
#pragma once

#include <string>
#include <vector>

#include "base/filesystem.h"
#include "net/networks/network.h"
#include "pipeline/record/checkpoint.h"

namespace voxswap::pipeline {

// Of a safetensors file. Names may all have a prefix that PyTorch's wrappers give (module., _orig_mod.);
// images' weights may be O,I,H,W, a dense layer's O,I. What nnU-Net's networks have twice is taken once, and
// their logits of levels on which the network has none are left out. Throws Exit::bad_data with all that is
// missing, too much or of another shape.
std::vector<Tensor> imported_weights(const fs::path& file, const net::ForwardGraph& network);

}  // namespace voxswap::pipeline
