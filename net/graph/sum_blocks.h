// A weight gradient sums over all planes of dy: in blocks of so many planes, each rounded to f32, and then
// over the blocks, in their order, in double. Blocks follow from the shapes of a step alone
// (net/steps/pieces.h), and no piece begins inside one: so a volume may lie in pieces, and where they are cut
// changes nothing.
//
// Attributes of a node: `block`, planes of a block, and `blocks`, their number in the whole volume; without
// them, all planes are one block. `apart`: the node gives the sums of every block, one behind the other, not
// of all.
#pragma once

#include <cstdint>

#include "net/graph/value.h"

namespace voxswap::net {

struct SumBlocks {
  std::int64_t planes = 1;         // of a block; the last may have fewer
  std::int64_t here = 1, all = 1;  // blocks of the planes that are here, and of the whole volume
};
SumBlocks sum_blocks(const Attributes& attributes, std::int64_t planes_here);
void set_sum_blocks(Attributes& attributes, std::int64_t planes, std::int64_t all);
Attributes as_one_block(Attributes attributes);  // of a node of one block, which is not apart

}  // namespace voxswap::net
