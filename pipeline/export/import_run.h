// `voxswap import`: a run with weights from another program, for `voxswap predict`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "net/networks/network.h"
#include "pipeline/cases/options.h"
#include "pipeline/record/checkpoint.h"

namespace voxswap::pipeline {

// Writes `out`, a new folder: the run's experiment, identity, split and description of its data, the best
// weights of its repeats, and in place of those of `repeat` the ones of `file`. Throws Exit::usage when `out`
// holds something, Exit::bad_data when the weights are not of the run's network.
void import_run(const RunOptions& run, std::int64_t repeat, const fs::path& file, const fs::path& out);

// Weights of another program for one of our networks: all parameters in their shapes, and nothing else.
// Of a safetensors file. Names may all have a prefix that PyTorch's wrappers give (module., _orig_mod.);
// images' weights may be O,I,H,W, a dense layer's O,I. What nnU-Net's networks have twice is taken once, and
// their logits of levels on which the network has none are left out. Throws Exit::bad_data with all that is
// missing, too much or of another shape.
std::vector<Tensor> imported_weights(const fs::path& file, const net::ForwardGraph& network);

}  // namespace voxswap::pipeline
