// The network of a finished run for other programs: graph, weights, and a description of its inputs and
// outputs as text and JSON.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "net/networks/network.h"
#include "pipeline/cases/experiment.h"
#include "pipeline/record/resume.h"

namespace voxswap::pipeline {

struct TrainedNetwork {
  net::NetworkOptions options;
  net::ForwardGraph graph;  // inference graph of one sample in f32
  BestWeights weights;
  std::int64_t channels = 0, outputs = 0;
  bool images = false, classifies = false, softmax = false;
  std::map<std::string, std::string> about;  // described in docs/how_to/export.md
};

// `repeat` counts from 1; `version` is the program's. Throws Exit::usage if there is no such repeat,
// Exit::bad_data if the run's files are inconsistent.
TrainedNetwork trained_network(const TrainedRun& run, std::int64_t repeat, const std::string& version);

// Input size of the network (x, y, z) as N,D,H,W,C of one sample.
Shape input_shape(const Experiment& experiment, std::int64_t channels);

// Exports a network to PyTorch: weights in PyTorch's shapes as a safetensors file, and a Python file that
// loads them.

// network.about becomes the metadata. For images, kernels are O,I,H,W and dense layers O,I.
Checkpoint pytorch_weights(const TrainedNetwork& network);

// The same file for every network; the metadata describes the architecture.
std::string pytorch_model();

}  // namespace voxswap::pipeline
