#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/error.h"
#include "base/float16.h"
#include "base/text.h"
#include "base/units.h"
#include "pipeline/record/checkpoint.h"

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

std::string numbers_text(const std::vector<double>& values) {
  std::vector<std::string> parts;
  for (double value : values) parts.push_back(number(value));
  return join(parts, " ");
}

std::vector<double> numbers_from(const Checkpoint& checkpoint, const std::string& key,
                                 const std::string& where) {
  std::vector<double> values;
  for (const std::string& part : split(checkpoint.text(key, where), ' ')) {
    if (part.empty()) continue;
    const auto value = parse_number<double>(part);
    if (!value) fail(Exit::bad_data, "{}: '{}' contains '{}', which is not a number", where, key, part);
    values.push_back(*value);
  }
  return values;
}

std::map<std::string, std::string> normalization_metadata(const data::Normalization& normalization) {
  std::map<std::string, std::string> metadata = {
      {"normalization.mean", numbers_text(normalization.mean)},
      {"normalization.deviation", numbers_text(normalization.deviation)}};
  if (!normalization.low.empty()) {
    metadata["normalization.low"] = numbers_text(normalization.low);
    metadata["normalization.high"] = numbers_text(normalization.high);
  }
  return metadata;
}

data::Normalization normalization_from(const Checkpoint& checkpoint, std::size_t channels,
                                       const std::string& where) {
  data::Normalization made{numbers_from(checkpoint, "normalization.mean", where),
                           numbers_from(checkpoint, "normalization.deviation", where)};
  std::vector<const std::vector<double>*> lists{&made.mean, &made.deviation};
  if (checkpoint.metadata.contains("normalization.low")) {
    made.low = numbers_from(checkpoint, "normalization.low", where);
    made.high = numbers_from(checkpoint, "normalization.high", where);
    lists.insert(lists.end(), {&made.low, &made.high});
  }
  for (const std::vector<double>* list : lists) {
    if (list->size() != channels ||
        !std::ranges::all_of(*list, [](double value) { return std::isfinite(value); }))
      fail(Exit::bad_data, "{}: its normalization is not a finite number for each of the {}", where,
           counted(channels, "channel"));
  }
  return made;
}

}  // namespace voxswap::pipeline
