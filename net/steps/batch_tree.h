// The binary tree along which what the samples of a batch give is added: neighbours in pairs, then pairs of
// pairs, up to the batch. What has no neighbour goes up as it is. The tree depends on the size of the batch
// alone, so sums have the same bits however the batch is shared out (docs/explanation/ranks.md).
//
// A node of the tree stands for samples [first, last). Who has all of them can add them up alone; such a node
// whose parent takes samples of somebody else is a part: what a rank gives to the others and no less.
#pragma once

#include <cstdint>
#include <vector>

namespace voxswap::net {

// A rank's share of a batch: samples [first, first + count) of `batch`.
struct Share {
  std::int64_t first = 0, count = 1, batch = 1;
  bool operator==(const Share&) const = default;
};
// REQUIRES: batch is a multiple of ranks.
Share share_of(std::int64_t batch, std::int64_t rank, std::int64_t ranks);

// The samples that the node of that number on that level stands for: 2^level of them, fewer at the end.
struct Samples {
  std::int64_t first = 0, last = 0;
  std::int64_t count() const { return last - first; }
  bool operator==(const Samples&) const = default;
};

// The parts of a share, in order.
std::vector<Samples> parts_of(const Share& share);

// What is to be added once `sample` is there, if all before it in the share were: the node that ends with it,
// then the one that this is the end of, and so on. Each sum is of `left` and of what was just made. REQUIRES:
// in the share.
struct Sum {
  Samples left, right;
};
std::vector<Sum> sums_ending_with(const Share& share, std::int64_t sample);

}  // namespace voxswap::net
