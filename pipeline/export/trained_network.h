// The network of a finished run for other programs: its graph, its weights, and a description of its inputs
// and outputs as text and JSON.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "net/networks/network.h"
#include "pipeline/cases/options.h"
#include "pipeline/record/resume.h"

namespace voxswap::pipeline {

struct TrainedNetwork {
  net::NetworkOptions options;
  net::ForwardGraph graph;  // of one sample, f32, for predictions
  BestWeights weights;
  std::int64_t channels = 0, outputs = 0;
  bool images = false, classifies = false, softmax = false;
  std::map<std::string, std::string> about;  // docs/how_to/export.md tells what is in it
};

// `repeat` counts from 1; `version` is the program's. Throws Exit::usage for a repeat that there is none of,
// Exit::bad_data for a run whose files do not belong together.
TrainedNetwork trained_network(const RunOptions& run, std::int64_t repeat, const std::string& version);

// Voxels x, y, z that such a network sees at a time, as N,D,H,W,C of one sample.
Shape input_shape(const RunOptions& run, std::int64_t channels);

// A network for PyTorch: its weights as a safetensors file in PyTorch's shapes, and the Python file that
// loads them.

// With network.about as metadata. Of images, kernels are O,I,H,W and dense layers O,I.
Checkpoint pytorch_weights(const TrainedNetwork& network);

// The same for every network: what it is stands in the metadata.
std::string pytorch_model();

}  // namespace voxswap::pipeline
