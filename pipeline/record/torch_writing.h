// Writes weights as torch.save does: a zip archive of a pickle and the contents of the storages.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/shape.h"
#include "pipeline/record/checkpoint.h"

namespace voxswap::pipeline {

// A tensor under a name. Names of the same tensor share its storage.
struct NamedTensor {
  std::string name;
  const Tensor* tensor;
  Shape shape;
};

// The content of a file whose object is a dictionary: `others` (text, whole numbers, null, objects; lists
// become tuples) and, under `key`, a dictionary of f32 tensors. Throws Exit::failed above 4 GiB.
std::string torch_file(const std::string& key, const std::vector<NamedTensor>& tensors, const Json& others);

}  // namespace voxswap::pipeline
