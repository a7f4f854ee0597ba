#include "net/graph/piece.h"

#include "base/text.h"

namespace voxswap::net {

std::string piece_name(std::string_view volume, std::size_t piece) {
  return format("{}[{}]", volume, piece);
}

PieceName split_piece_name(std::string_view name) {
  const std::size_t open = name.rfind('[');
  if (open == std::string_view::npos || open + 2 >= name.size() || name.back() != ']') return {name, {}};
  const std::string_view digits = name.substr(open + 1, name.size() - open - 2);
  if (digits.find_first_not_of("0123456789") != std::string_view::npos) return {name, {}};
  return {name.substr(0, open), name.substr(open)};
}

}  // namespace voxswap::net
