// What PyTorch computed, out of the files that the scripts of tests/fixtures/ wrote, and how far numbers are
// from it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "tests/net/run_graph.h"

namespace voxswap::net {

struct Tensor {
  Shape shape;
  std::vector<double> values;
};

// Of a safetensors file: the header's length in 8 bytes, a JSON header, the tensors.
inline std::map<std::string, Tensor> load_safetensors(const fs::path& path) {
  const std::string file = read_file(path);
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  const auto header = nlohmann::json::parse(file.substr(sizeof length, length));
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, entry] : header.items()) {
    Tensor tensor;
    tensor.shape = Shape(entry["shape"].get<std::vector<std::int64_t>>());
    tensor.values.resize(static_cast<std::size_t>(tensor.shape.count()));
    const auto type = entry["dtype"] == "U8" ? ElementType::u8 : ElementType::f32;
    const auto offsets = entry["data_offsets"].get<std::vector<std::size_t>>();
    // A copy, because where a tensor begins in the file is aligned to nothing.
    const std::string data = file.substr(sizeof length + length + offsets[0], offsets[1] - offsets[0]);
    load_elements(tensor.values.data(), data.data(), type, tensor.shape.count());
    tensors[name] = std::move(tensor);
  }
  return tensors;
}

inline double largest(const std::vector<double>& values) {
  double result = 0;
  for (double x : values) result = std::max(result, std::abs(x));
  return result;
}

inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double result = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i])) return std::numeric_limits<double>::infinity();
    result = std::max(result, std::abs(a[i] - b[i]));
  }
  return result;
}

}  // namespace voxswap::net
