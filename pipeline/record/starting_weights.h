// Pretrained weights from another run or from torchvision, whose parameter names our networks use. Tensors
// that match in name and shape are loaded, and the result for each parameter is reported. Optimiser state is
// not loaded.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "base/shape.h"
#include "pipeline/record/checkpoint.h"

namespace voxswap::pipeline {

// For a run's folder, the weights it predicts with (of the first repeat); a file name is returned unchanged.
// Throws Exit::bad_data if the folder has no weights or nothing exists there.
fs::path weights_file(const fs::path& run_or_file);

struct StartingWeights {
  enum class Fate { taken, by_channel, other_shape, missing, unused };
  struct Row {
    Fate fate;
    std::string name;
    std::string remark;  // shapes, or the channels that were loaded
  };
  fs::path file;
  std::vector<Tensor> tensors;  // initial values of all parameters, in order
  std::vector<Row> rows;        // every parameter, then unused tensors of the file

  std::size_t count(Fate fate) const;
  std::string table() const;  // for display: lines for tensors not loaded as they are, then totals
};

// `random`: initial parameters. If the file names its modalities, the first convolution loads channels with
// the same names in any order; the others stay random. 2D kernels may be O,I,H,W, dense layers O,I; backbone
// names may lack their prefix. Throws Exit::bad_data if no tensor matches.
StartingWeights starting_weights(const fs::path& file, std::vector<Tensor> random,
                                 const std::vector<std::string>& modalities);

// The 5-D shape of 2D kernels O,I,H,W and dense layers O,I in a network that has `wanted`; other shapes are
// unchanged.
Shape as_volume(const Shape& shape, const Shape& wanted);

}  // namespace voxswap::pipeline
