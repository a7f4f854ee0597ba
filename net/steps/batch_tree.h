// Binary summation tree over the samples of a batch: neighbours are added in pairs, then pairs of pairs. A
// node without a neighbour moves up unchanged. The tree depends only on the batch size, so sums are identical
// to the bit for any number of ranks (docs/explanation/ranks.md).
//
// A node covers samples [first, last). A rank that has all of them computes the node alone. A part is such a
// node whose parent also covers samples of other ranks: what a rank sends to the others.
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

// A node of the tree: samples [first, last). The last node of a level may have fewer.
struct Samples {
  std::int64_t first = 0, last = 0;
  std::int64_t count() const { return last - first; }
  bool operator==(const Samples&) const = default;
};

// The parts of a share, in order.
std::vector<Samples> parts_of(const Share& share);

// Sums to compute when `sample` is ready and all earlier samples of the share are: the node that ends with
// it, then that node's parent if it ends there too, and so on. Each adds the node just computed (`right`) to
// `left`. REQUIRES: `sample` is in the share.
struct Sum {
  Samples left, right;
};
std::vector<Sum> sums_ending_with(const Share& share, std::int64_t sample);

}  // namespace voxswap::net
