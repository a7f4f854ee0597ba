// Pretrained weights: of another run, or of torchvision's networks, whose parameter names ours have. Tensors
// that match in name and shape are used, and the result for each parameter is reported. Optimiser state is
// not used.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "base/shape.h"
#include "pipeline/record/checkpoint.h"

namespace voxswap::pipeline {

// Of a run's folder the file with the weights that it would predict with, of the first of several repeats;
// a file itself. Throws Exit::bad_data where the folder holds none, or there is nothing.
fs::path weights_file(const fs::path& run_or_file);

struct StartingWeights {
  enum class Fate { taken, by_channel, other_shape, missing, unused };
  struct Row {
    Fate fate;
    std::string name;
    std::string remark;  // its shapes, or the channels that were taken
  };
  fs::path file;
  std::vector<Tensor> tensors;  // of all parameters, in their order: what the training begins with
  std::vector<Row> rows;        // of every parameter, then of what nothing takes

  std::size_t count(Fate fate) const;
  std::string table() const;  // for people: a line for each that was not taken whole, below how many were
};

// `random`: the parameters as they would begin. Where the file says which modalities its channels are, the
// first convolution takes those of the same names, wherever they stand; the others stay random. Images'
// weights may be O,I,H,W, a dense layer's O,I; a backbone's may lack its prefix. Throws Exit::bad_data where
// nothing fits.
StartingWeights starting_weights(const fs::path& file, std::vector<Tensor> random,
                                 const std::vector<std::string>& modalities);

// Of an image's weights O,I,H,W and a dense layer's O,I, the shape that ours have; of others their own.
Shape as_volume(const Shape& shape);

}  // namespace voxswap::pipeline
