#include "net/graph/sample_name.h"

#include <algorithm>

#include "base/parse_number.h"
#include "base/text.h"

namespace voxswap::net {

std::string sample_name(std::string_view name, std::int64_t sample) {
  return format("{}@{}", name, sample + 1);
}

std::string sum_name(std::string_view name, std::int64_t first, std::int64_t last) {
  return format("{}@{}-{}", name, first + 1, last);
}

namespace {

struct Split {
  std::string_view before, sample, behind;  // "input", "3", "[0]"; without '@' all of it is in `before`
  bool is_sum() const { return behind.starts_with('-'); }
};

Split split(std::string_view name) {
  const std::size_t at = name.rfind('@');
  if (at == std::string_view::npos) return {name, "", ""};
  const std::size_t behind = std::min(name.find_first_not_of("0123456789", at + 1), name.size());
  return {name.substr(0, at), name.substr(at + 1, behind - at - 1), name.substr(behind)};
}

}  // namespace

std::optional<std::int64_t> sample_in(std::string_view name) {
  const Split parts = split(name);
  if (parts.sample.empty() || parts.is_sum()) return std::nullopt;
  return parse_number<std::int64_t>(parts.sample).value_or(1) - 1;
}

std::optional<std::string> name_in_one_sample(std::string_view name) {
  const Split parts = split(name);
  if (parts.is_sum()) return std::nullopt;
  return format("{}{}", parts.before, parts.behind);
}

}  // namespace voxswap::net
