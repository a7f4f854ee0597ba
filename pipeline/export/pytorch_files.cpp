#include "pipeline/export/pytorch_files.h"

#include "pipeline/export/pytorch_model_py.h"

namespace voxswap::pipeline {

namespace {

Shape of_image(const std::string& name, const Shape& shape) {
  if (shape.rank() != 5) return shape;
  if (name == "fc.weight") return {shape[0], shape[1]};
  return {shape[0], shape[1], shape[2], shape[4]};
}

}  // namespace

Checkpoint pytorch_weights(const TrainedNetwork& network) {
  Checkpoint file;
  file.metadata = network.about;
  for (const net::ValueId id : network.graph.parameters) {
    const std::string& name = network.graph.graph.value(id).name;
    Tensor tensor = network.weights.checkpoint.tensor(name, network.weights.where);
    if (network.images) tensor.shape = of_image(name, tensor.shape);
    file.tensors.push_back(std::move(tensor));
  }
  return file;
}

std::string pytorch_model() {
  return pytorch_model_py;
}

}  // namespace voxswap::pipeline
