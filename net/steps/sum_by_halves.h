// All-reduce by recursive halving: ranks turn their parts of a batch's tree (batch_tree.h) into the sum over
// the batch, which all of them receive (Thakur, Rabenseifner and Gropp 2005).
//
// The input is a row of elements. At each tree node with samples of several ranks, two ranks hold the sums of
// the node's two children for a range of the row. Each sends one half of the range and adds up the other
// half. The additions are those of the tree, but a rank's work halves at every level. Then each rank holds a
// range of the total, and the same swaps run in reverse order to distribute it.
//
// Neighbours swap first, and swap the most. So a machine sends and receives at most its part of the row, for
// any number of machines.
#pragma once

#include <cstdint>
#include <vector>

namespace voxswap::net {

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
struct Stretch {
  std::int64_t begin = 0, end = 0;
  Swap::Side at;
};

struct SumByHalves {
  std::vector<Swap> swaps;  // no deadlock if each rank performs its own in this order
  std::vector<Stretch> stretches;
};

// REQUIRES: batch is a multiple of ranks, length > 0.
SumByHalves sum_by_halves(std::int64_t batch, std::int64_t ranks, std::int64_t length);
SumByHalves of_rank(const SumByHalves& all, std::int64_t rank);  // swaps in which `rank` takes part

// Bytes of a long row that are summed at a time: one exchange block per rank, which is a rank's last range,
// at most 4 MiB.
std::int64_t exchange_chunk_bytes(std::int64_t ranks);

}  // namespace voxswap::net
