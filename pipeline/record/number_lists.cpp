#include "pipeline/record/number_lists.h"

#include "base/error.h"
#include "base/parse_number.h"
#include "base/text.h"

namespace voxswap::pipeline {

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

}  // namespace voxswap::pipeline
