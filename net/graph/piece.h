// Names of slabs (pieces) of a volume (docs/explanation/slabs.md), by which people and plots recognise slabs
// of one volume.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace voxswap::net {

std::string piece_name(std::string_view volume, std::size_t piece);  // "encoder.0.input[3]"

// "norm[3].1", a second output of node "norm[3]", is slab "[3]" of volume "norm.1".
struct PieceName {
  std::string volume;          // the whole name if it is not a slab
  std::string piece;           // empty if it is not a slab
  std::size_t number() const;  // index of the slab; 0 for a whole volume
};
PieceName split_piece_name(std::string_view name);

}  // namespace voxswap::net
