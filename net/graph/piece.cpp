#include "net/graph/piece.h"

#include "base/text.h"

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

}  // namespace voxswap::net
