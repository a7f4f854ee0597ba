#include "pipeline/record/starting_weights.h"

#include <algorithm>

#include "base/error.h"
#include "base/keys.h"

namespace voxswap::pipeline {

namespace {

const Tensor* find(const Checkpoint& checkpoint, const std::string& name) {
  const auto found = std::find_if(checkpoint.tensors.begin(), checkpoint.tensors.end(),
                                  [&](const Tensor& tensor) { return tensor.name == name; });
  return found == checkpoint.tensors.end() ? nullptr : &*found;
}

// A file of a whole classifier gives a segmentation network its backbone.
const Tensor* find_with_or_without_prefix(const Checkpoint& checkpoint, const std::string& name) {
  constexpr std::string_view prefix = "backbone.";
  if (const Tensor* const tensor = find(checkpoint, name)) return tensor;
  return name.starts_with(prefix) ? find(checkpoint, name.substr(prefix.size())) : nullptr;
}

bool differ_in_outputs_alone(const Shape& a, const Shape& b) {
  if (a.rank() != b.rank() || a[0] == b[0]) return false;
  for (int axis = 1; axis < a.rank(); ++axis)
    if (a[axis] != b[axis]) return false;
  return true;
}

}  // namespace

Shape as_volume(const Shape& shape) {
  if (shape.rank() == 4) return {shape[0], shape[1], shape[2], 1, shape[3]};
  if (shape.rank() == 2) return {shape[0], shape[1], 1, 1, 1};
  return shape;
}

StartingWeights starting_weights(const fs::path& file, const net::Graph& graph,
                                 const std::vector<net::ValueId>& parameters) {
  const Checkpoint checkpoint = read_checkpoint(file);
  StartingWeights weights;
  // The head: the last parameters of a network, of which some are for each output.
  const auto is_of_outputs = [&](const net::Value& value) {
    const std::size_t from = parameters.size() >= 2 ? parameters.size() - 2 : 0;
    return std::any_of(parameters.begin() + static_cast<std::ptrdiff_t>(from), parameters.end(),
                       [&](net::ValueId id) { return graph.value(id).name == value.name; });
  };
  for (const net::ValueId id : parameters) {
    const net::Value& value = graph.value(id);
    const Tensor* const found = find_with_or_without_prefix(checkpoint, value.name);
    const Shape shape = found != nullptr ? as_volume(found->shape) : Shape{};
    if (found == nullptr || (is_of_outputs(value) && differ_in_outputs_alone(shape, value.shape))) {
      weights.random.push_back(value.name);
    } else if (shape != value.shape) {
      fail(Exit::bad_data, "{}: {}: '{}' is {}, the experiment's network needs {}", key::training_weights,
           file.string(), found->name, shape.text(), value.shape.text());
    } else {
      weights.tensors.push_back({value.name, value.shape, found->values});
    }
  }
  if (weights.tensors.empty())
    fail(Exit::bad_data, "{}: {}: has none of the network's {} parameters, the first of which is '{}'",
         key::training_weights, file.string(), parameters.size(), graph.value(parameters.front()).name);
  return weights;
}

}  // namespace voxswap::pipeline
