// Weights that a training begins with instead of random ones: of another run, or of torchvision's networks,
// whose names of parameters ours have.
#pragma once

#include <string>
#include <vector>

#include "base/filesystem.h"
#include "net/graph/graph.h"
#include "pipeline/record/checkpoint.h"

namespace voxswap::pipeline {

struct StartingWeights {
  std::vector<Tensor> tensors;      // of the parameters that the file has, in the shapes of the network
  std::vector<std::string> random;  // the parameters that begin at random
};

// What the file lacks, or has for another number of outputs, begins at random. Throws Exit::bad_data where a
// tensor has another shape otherwise, or there is none of the parameters. Images' weights may be O,I,H,W, a
// dense layer's O,I; a backbone's may lack its prefix.
StartingWeights starting_weights(const fs::path& file, const net::Graph& graph,
                                 const std::vector<net::ValueId>& parameters);

// Of an image's weights O,I,H,W and a dense layer's O,I, the shape that ours have; of others their own.
Shape as_volume(const Shape& shape);

}  // namespace voxswap::pipeline
