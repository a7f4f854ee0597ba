// Blocked summation of weight gradients. A weight gradient sums over all planes of dy: within blocks of
// planes, each rounded to f32, then over the blocks, in order, in f64. Blocks follow only from the shapes of
// a step (net/steps/pieces.h), and no slab boundary is inside a block. So the result does not depend on the
// slabs.
//
// Attributes of a node: `block`, planes per block, and `blocks`, their number in the whole volume; without
// them, all planes are one block. `apart`: the node returns the sum of each block, one after the other,
// instead of the total.
#pragma once

#include <cstdint>

#include "net/graph/value.h"

namespace voxswap::net {

struct SumBlocks {
  std::int64_t planes = 1;         // per block; the last may have fewer
  std::int64_t here = 1, all = 1;  // blocks in the node's planes, and in the whole volume
};
SumBlocks sum_blocks(const Attributes& attributes, std::int64_t planes_here);
void set_sum_blocks(Attributes& attributes, std::int64_t planes, std::int64_t all);
Attributes as_one_block(Attributes attributes);  // for a node that is one block and returns the total

}  // namespace voxswap::net
