// Results of PyTorch from the files written by the scripts of tests/fixtures/, the differences from them, and
// the backends and types that are compared.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "net/backends/backends.h"
#include "tests/net/run_graph.h"

namespace voxswap::net {

struct Tensor {
  Shape shape;
  std::vector<double> values;
};
using Tensors = std::map<std::string, Tensor>;

// Reads a safetensors file: the header's length in 8 bytes, a JSON header, the tensors.
inline Tensors load_safetensors(const fs::path& path) {
  const std::string file = read_file(path);
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  const auto header = nlohmann::json::parse(file.substr(sizeof length, length));
  Tensors tensors;
  for (const auto& [name, entry] : header.items()) {
    Tensor tensor;
    tensor.shape = Shape(entry["shape"].get<std::vector<std::int64_t>>());
    tensor.values.resize(static_cast<std::size_t>(tensor.shape.count()));
    const auto type = entry["dtype"] == "U8" ? ElementType::u8 : ElementType::f32;
    const auto offsets = entry["data_offsets"].get<std::vector<std::size_t>>();
    // A copy, because tensors in the file are not aligned.
    const std::string data = file.substr(sizeof length + length + offsets[0], offsets[1] - offsets[0]);
    load_elements(tensor.values.data(), data.data(), type, tensor.shape.count());
    tensors[name] = std::move(tensor);
  }
  return tensors;
}

// tests/fixtures/NAME_small.safetensors, read once.
inline const Tensors& fixture(const std::string& name) {
  static std::map<std::string, Tensors> files;
  const auto [found, fresh] = files.try_emplace(name);
  if (fresh)
    found->second =
        load_safetensors(fs::path(VOXSWAP_SOURCE_DIR) / "tests/fixtures" / (name + "_small.safetensors"));
  return found->second;
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

// A row of a table on a backend and in a type: in double on the reference, in f32 on all.
template <class Row>
struct OnBackend {
  Row row;
  std::string backend;
  ElementType type;
  std::string name() const { return row.name + "_" + backend + "_" + std::string(element_name(type)); }
  friend void PrintTo(const OnBackend& one, std::ostream* out) { *out << one.name(); }
};

template <class Row>
std::vector<OnBackend<Row>> on_every_backend(const std::vector<Row>& rows) {
  std::vector<OnBackend<Row>> result;
  for (const Row& row : rows)
    for (const std::string& backend : backend_names()) {
      if (backend == "reference") result.push_back({row, backend, ElementType::f64});
      result.push_back({row, backend, ElementType::f32});
    }
  return result;
}

}  // namespace voxswap::net
