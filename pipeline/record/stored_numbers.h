// Floating point types of safetensors files, read as f32.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace voxswap::pipeline {

// Bytes of a number of such a type ("F64", "F32", "F16", "BF16"); nothing for others.
std::optional<std::size_t> stored_bytes(std::string_view type);

// REQUIRES: a type that there are, and whole numbers' bytes.
std::vector<float> read_numbers(std::string_view type, std::string_view bytes);

}  // namespace voxswap::pipeline
