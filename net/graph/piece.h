// What pieces of a volume (docs/explanation/slabs.md) are called: how people and pictures tell which belong
// together.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace voxswap::net {

std::string piece_name(std::string_view volume, std::size_t piece);  // "encoder.0.input[3]"

// Of "norm[3].1", which a node makes beside "norm[3]", the volume is "norm.1" and the piece "[3]".
struct PieceName {
  std::string volume;          // the whole name where it is none of a piece
  std::string piece;           // or nothing
  std::size_t number() const;  // of the piece; 0 of a whole volume
};
PieceName split_piece_name(std::string_view name);

}  // namespace voxswap::net
