// Checkpoints as safetensors files: named f32 tensors and a map of strings. Written whole and renamed into
// place, so the last good one survives a full disk or a kill.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/shape.h"

namespace voxswap {

struct Tensor {
  std::string name;
  Shape shape;
  std::vector<float> values;
};

struct Checkpoint {
  std::map<std::string, std::string> metadata;
  std::vector<Tensor> tensors;  // in file order

  const Tensor& tensor(const std::string& name, const std::string& where) const;    // throws Exit::bad_data
  const std::string& text(const std::string& key, const std::string& where) const;  // throws Exit::bad_data
};

void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);
Checkpoint read_checkpoint(const std::filesystem::path& path);  // throws Exit::bad_data for a damaged file

}  // namespace voxswap
