// Blocked summation of weight gradients, so that the result depends neither on slabs nor on ranks.
//
// A weight gradient sums over all planes of dy. It is summed within blocks of planes, which depend only on
// the shapes of a step (net/steps/slabs.h) and are never split by a slab boundary. The sums of the blocks
// are then added in pairs in a binary tree (pairwise summation), in their own type. A node of the tree has
// 2^k blocks, the first of which is a multiple of 2^k; at the end of the volume it may have fewer. So a rank
// can add up the nodes within its own blocks, and sends only these.
#pragma once

#include <cstdint>
#include <vector>

#include "net/graph/value.h"

namespace voxswap::net {

// Attributes of a weight gradient: `block`, planes per block, and `blocks`, their number in the whole volume;
// without them, all planes are one block. `apart`: the node returns the sum of each block, one after the
// other, instead of the total.
struct SumBlocks {
  std::int64_t planes = 1;         // per block; the last may have fewer
  std::int64_t here = 1, all = 1;  // blocks in the node's planes, and in the whole volume
};
SumBlocks sum_blocks(const Attributes& attributes, std::int64_t planes_here);
void set_sum_blocks(Attributes& attributes, std::int64_t planes, std::int64_t all);
Attributes as_one_block(Attributes attributes);  // for a node that is one block and returns the total

struct Blocks {
  std::int64_t first = 0, count = 0;
  bool operator==(const Blocks&) const = default;
};
// The largest nodes of the tree that have all of these blocks and no others, in order.
std::vector<Blocks> tree_nodes(const Blocks& blocks);

// The additions of operation `total`. Each input has one row per block or, with attribute `nodes`, per node.
//
//   first          the first block of the first input (default: 0)
//   each, end      with `nodes`: blocks per input, and the end of the last one
//   apart          returns a row per node of all blocks instead of their sum
struct Total {
  std::vector<Blocks> rows;     // of all inputs
  std::vector<Blocks> outputs;  // one, or the nodes
  // After each row: how often to replace the last two sums by their sum. At the end one sum per output is
  // left.
  std::vector<int> additions;
};
Total total_of(const std::vector<std::int64_t>& rows_of_inputs, const Attributes& attributes);
// The same for rows that are blocks from `first` on.
Total total_of_blocks(std::int64_t first, std::int64_t count, bool apart);

constexpr int most_sums_at_once = 64;  // limit of sums that wait to be added

}  // namespace voxswap::net
