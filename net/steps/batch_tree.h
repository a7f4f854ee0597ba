// Binary summation tree over the samples of a batch, and the all-reduce that follows it. Neighbours are added
// in pairs, then pairs of pairs. A node without a neighbour moves up unchanged. The tree depends only on the
// batch size, so sums are identical to the bit for any number of ranks (docs/explanation/ranks.md).
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

// All-reduce by recursive halving: ranks turn their parts of a batch's tree into the sum over
// the batch, which all of them receive (Thakur, Rabenseifner and Gropp 2005).
//
// The input is a row of elements. At each tree node with samples of several ranks, two ranks hold the sums of
// the node's two children for a range of the row. Each sends one half of the range and adds up the other
// half. The additions are those of the tree, but a rank's work halves at every level. Then each rank holds a
// range of the total, and the same swaps run in reverse order to distribute it.
//
// Neighbours swap first, and swap the most. So a machine sends and receives at most its part of the row, for
// any number of machines.
struct Swap {
  struct Side {
    std::int64_t rank = 0;
    std::int64_t part = 0;  // which of the rank's parts holds the sum
    bool operator==(const Side&) const = default;
  };
  Side left, right;  // if on the same rank, it adds right to left locally
  // Left sends [middle, end) of the row and adds up [begin, middle); right does the opposite. Short ranges
  // are left's alone, and right sends everything.
  std::int64_t begin = 0, middle = 0, end = 0;

  bool is_local() const { return left.rank == right.rank; }
  bool operator==(const Swap&) const = default;
};

// Where a range of the total is stored after all swaps.
struct RowRange {
  std::int64_t begin = 0, end = 0;
  Swap::Side at;
};

struct SumByHalves {
  std::vector<Swap> swaps;  // no deadlock if each rank performs its own in this order
  std::vector<RowRange> ranges;
};

// REQUIRES: batch is a multiple of ranks, length > 0.
SumByHalves sum_by_halves(std::int64_t batch, std::int64_t ranks, std::int64_t length);
SumByHalves of_rank(const SumByHalves& all, std::int64_t rank);  // swaps in which `rank` takes part

// Bytes of a long row that are summed at a time: one exchange block per rank, which is a rank's last range,
// at most 4 MiB.
std::int64_t exchange_chunk_bytes(std::int64_t ranks);

}  // namespace voxswap::net
