// How ranks turn the parts that they have of a batch's tree (batch_tree.h) into the sum over the batch, which
// in the end all of them have.
//
// What is summed is a row of elements. At every node of the tree that has samples of several ranks, a stretch
// of the row lies on two of them, as the sums of the node's two sides. Each sends the other half of it and
// adds up the other half: the additions are those of the tree, but with every level a rank has half as much
// to send and to add (recursive halving: Thakur, Rabenseifner and Gropp 2005). Then each has a stretch of the
// sum, and the same swaps are made again from the last to the first, with the sum, until all have all of it.
// Neighbours swap first, and most; so a machine sends others at most its part of the row and gets as much
// back, however many they are.
#pragma once

#include <cstdint>
#include <vector>

namespace voxswap::net {

struct Swap {
  struct Side {
    std::int64_t rank = 0;
    std::int64_t part = 0;  // of the rank's, in which the side's sum lies
    bool operator==(const Side&) const = default;
  };
  Side left, right;  // of the same rank: it adds the right one to the left one by itself
  // Left sends [middle, end) of the row and adds up [begin, middle), right the other way round. Short
  // stretches are left's alone: then nothing comes back.
  std::int64_t begin = 0, middle = 0, end = 0;

  bool is_local() const { return left.rank == right.rank; }
  bool operator==(const Swap&) const = default;
};

// Of the sum, where it lies once all swaps are made.
struct Stretch {
  std::int64_t begin = 0, end = 0;
  Swap::Side at;
};

struct SumByHalves {
  std::vector<Swap> swaps;  // whoever makes his own in this order waits for nobody for ever
  std::vector<Stretch> stretches;
};

// REQUIRES: batch is a multiple of ranks, length > 0.
SumByHalves sum_by_halves(std::int64_t batch, std::int64_t ranks, std::int64_t length);
SumByHalves of_rank(const SumByHalves& all, std::int64_t rank);  // what it takes part in

// Of a long row, how much is summed at a time: a block for each rank, whose last swap that is, up to 4 MiB.
std::int64_t exchange_chunk_bytes(std::int64_t ranks);

}  // namespace voxswap::net
