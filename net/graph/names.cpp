#include "net/graph/names.h"

#include <algorithm>

#include "base/text.h"
#include "base/units.h"

namespace voxswap::net {

std::string piece_name(std::string_view volume, std::size_t piece) {
  return format("{}[{}]", volume, piece);
}

PieceName split_piece_name(std::string_view name) {
  const std::size_t open = name.rfind('['), close = name.find(']', open);
  const PieceName whole = {std::string(name), ""};
  if (open == std::string_view::npos || close == std::string_view::npos || close == open + 1) return whole;
  const std::string_view digits = name.substr(open + 1, close - open - 1);
  if (digits.find_first_not_of("0123456789") != std::string_view::npos) return whole;
  return {format("{}{}", name.substr(0, open), name.substr(close + 1)),
          std::string(name.substr(open, close + 1 - open))};
}

std::size_t PieceName::number() const {
  return piece.empty() ? 0 : std::stoul(piece.substr(1));
}

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
