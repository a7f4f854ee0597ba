// Element types shared by image formats, and conversion of their bytes to float.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace voxswap::data {

// "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float32" or "float64".
std::size_t bytes_of_element(std::string_view element);

struct StoredVoxels {
  std::string_view bytes;           // starting with the first voxel
  std::string_view element;         // as above
  std::size_t stride = 1;           // in elements, between voxels
  bool swapped = false;             // in the other byte order
  double slope = 1, intercept = 0;  // value = slope * stored + intercept
};

// REQUIRES: bytes holds `count` voxels.
std::vector<float> decode(const StoredVoxels& stored, std::size_t count);

}  // namespace voxswap::data
