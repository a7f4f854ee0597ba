#include "data/formats/voxel_bytes.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <span>

#include "data/formats/file_bytes.h"

namespace voxswap::data {

namespace {

// Decodes voxels from `first` on, to fill `values`.
template <class T>
void decode_some(const StoredVoxels& stored, std::size_t first, std::span<float> values) {
  const bool scaled = stored.slope != 1 || stored.intercept != 0;
  const char* source = stored.bytes.data() + first * stored.stride * sizeof(T);
  const auto number_at = [source](std::size_t i) {
    T number;
    std::memcpy(&number, source + i * sizeof(T), sizeof(T));
    return number;
  };
  if (stored.stride == 1 && !stored.swapped && !scaled) {  // a loop that compilers vectorise
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(number_at(i));
    return;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    T number = number_at(i * stored.stride);
    if (stored.swapped) number = swap_bytes(number);
    values[i] = scaled ? static_cast<float>(stored.slope * static_cast<double>(number) + stored.intercept)
                       : static_cast<float>(number);
  }
}

template <class T>
std::vector<float> decode_as(const StoredVoxels& stored, std::size_t count) {
  assert(count == 0 || stored.bytes.size() >= ((count - 1) * stored.stride + 1) * sizeof(T));
  std::vector<float> values;
  values.reserve(count);
  std::array<float, 4096> some;  // decoding in blocks avoids clearing a vector of `count` values first
  for (std::size_t first = 0; first < count; first += some.size()) {
    const std::span<float> now(some.data(), std::min(some.size(), count - first));
    decode_some<T>(stored, first, now);
    values.insert(values.end(), now.begin(), now.end());
  }
  return values;
}

struct Element {
  std::string_view name;
  std::size_t bytes;
  std::vector<float> (*decode)(const StoredVoxels&, std::size_t);
};

constexpr std::array<Element, 10> elements{{{"uint8", 1, decode_as<std::uint8_t>},
                                            {"int8", 1, decode_as<std::int8_t>},
                                            {"uint16", 2, decode_as<std::uint16_t>},
                                            {"int16", 2, decode_as<std::int16_t>},
                                            {"uint32", 4, decode_as<std::uint32_t>},
                                            {"int32", 4, decode_as<std::int32_t>},
                                            {"uint64", 8, decode_as<std::uint64_t>},
                                            {"int64", 8, decode_as<std::int64_t>},
                                            {"float32", 4, decode_as<float>},
                                            {"float64", 8, decode_as<double>}}};

const Element& element_named(std::string_view name) {
  for (const Element& element : elements) {
    if (element.name == name) return element;
  }
  assert(false && "unknown element type");
  return elements[0];
}

}  // namespace

std::size_t bytes_of_element(std::string_view element) {
  return element_named(element).bytes;
}

std::vector<float> decode(const StoredVoxels& stored, std::size_t count) {
  return element_named(stored.element).decode(stored, count);
}

}  // namespace voxswap::data
