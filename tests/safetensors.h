// The parts of a safetensors file: a header in JSON, and the data of its tensors.
#pragma once

#include <cstring>
#include <string>
#include <utility>

#include "base/json.h"

namespace voxswap::test {

inline std::pair<Json, std::string> parts_of_safetensors(const std::string& file) {
  std::uint64_t size = 0;
  std::memcpy(&size, file.data(), sizeof size);
  return {Json::parse(file.substr(sizeof size, size)), file.substr(sizeof size + size)};
}

inline std::string safetensors_of(const Json& header, const std::string& data) {
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t size = text.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + text + data;
}

}  // namespace voxswap::test
