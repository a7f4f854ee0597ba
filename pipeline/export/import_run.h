// `voxswap import`: creates a run with weights trained by another program, for `voxswap predict`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "net/networks/network.h"
#include "pipeline/record/resume.h"

namespace voxswap::pipeline {

// Writes a new folder `out` with the run's experiment, identity, split, data description and best weights;
// the weights of `repeat` come from `file`. Throws Exit::usage if `out` is not empty, Exit::bad_data if the
// weights do not match the run's network.
void import_run(const TrainedRun& run, std::int64_t repeat, const fs::path& file, const fs::path& out);

// Reads weights trained by another program from a safetensors file: exactly the network's parameters. Strips
// prefixes of PyTorch's wrappers (module., _orig_mod.); 2D kernels may be O,I,H,W, dense layers O,I. Drops
// nnU-Net's duplicate tensors and its segmentation layers on levels where our network has none. Throws
// Exit::bad_data that lists all missing, unexpected and differently shaped tensors.
std::vector<Tensor> imported_weights(const fs::path& file, const net::ForwardGraph& network);

}  // namespace voxswap::pipeline
