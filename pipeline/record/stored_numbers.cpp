#include "pipeline/record/stored_numbers.h"

#include <cassert>
#include <cstdint>
#include <cstring>

#include "base/bfloat16.h"
#include "base/float16.h"

namespace voxswap::pipeline {

namespace {

template <class Stored, class Convert>
std::vector<float> converted(std::string_view bytes, const Convert& convert) {
  std::vector<float> numbers(bytes.size() / sizeof(Stored));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof stored, sizeof stored);
    numbers[i] = convert(stored);
  }
  return numbers;
}

}  // namespace

std::optional<std::size_t> stored_bytes(std::string_view type) {
  if (type == "F64") return 8;
  if (type == "F32") return 4;
  if (type == "F16" || type == "BF16") return 2;
  return std::nullopt;
}

std::vector<float> read_numbers(std::string_view type, std::string_view bytes) {
  assert(bytes.size() % stored_bytes(type).value() == 0);
  if (type == "F64") return converted<double>(bytes, [](double x) { return static_cast<float>(x); });
  if (type == "F16") return converted<std::uint16_t>(bytes, from_float16);
  if (type == "BF16") return converted<std::uint16_t>(bytes, from_bfloat16);
  return converted<float>(bytes, [](float x) { return x; });
}

}  // namespace voxswap::pipeline
