#include "net/steps/batch_tree.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

#include "net/graph/operation.h"

namespace voxswap::net {

namespace {

// A tree over `batch` samples. A node is its first sample and its width, a power of two.
class Tree {
 public:
  explicit Tree(std::int64_t batch) : batch_(batch) {
    while (width_ < batch) width_ *= 2;
  }
  Samples root() const { return {0, batch_}; }
  std::int64_t width() const { return width_; }

  // First sample of a node's second child. If it is beyond the batch, there is no second child.
  std::int64_t middle(std::int64_t first, std::int64_t width) const { return first + width / 2; }
  Samples node(std::int64_t first, std::int64_t width) const {
    return {first, std::min(first + width, batch_)};
  }
  bool has_second(std::int64_t first, std::int64_t width) const { return middle(first, width) < batch_; }

 private:
  std::int64_t batch_, width_ = 1;
};

bool is_within(const Samples& samples, const Share& share) {
  return samples.first >= share.first && samples.last <= share.first + share.count;
}

void find_parts(const Tree& tree, const Share& share, std::int64_t first, std::int64_t width,
                std::vector<Samples>& parts) {
  const Samples node = tree.node(first, width);
  if (node.last <= share.first || node.first >= share.first + share.count) return;
  if (is_within(node, share)) return parts.push_back(node);
  find_parts(tree, share, first, width / 2, parts);
  if (tree.has_second(first, width)) find_parts(tree, share, tree.middle(first, width), width / 2, parts);
}

}  // namespace

Share share_of(std::int64_t batch, std::int64_t rank, std::int64_t ranks) {
  assert(ranks > 0 && batch % ranks == 0 && rank >= 0 && rank < ranks);
  return {rank * (batch / ranks), batch / ranks, batch};
}

std::vector<Samples> parts_of(const Share& share) {
  const Tree tree(share.batch);
  std::vector<Samples> parts;
  find_parts(tree, share, 0, tree.width(), parts);
  return parts;
}

std::vector<Sum> sums_ending_with(const Share& share, std::int64_t sample) {
  const Tree tree(share.batch);
  std::vector<Sum> sums;
  for (std::int64_t width = 2; width <= tree.width(); width *= 2) {
    const std::int64_t first = sample / width * width;
    const Samples node = tree.node(first, width);
    if (node.last != sample + 1 || !is_within(node, share)) break;
    if (tree.has_second(first, width))
      sums.push_back({tree.node(first, width / 2), tree.node(tree.middle(first, width), width / 2)});
  }
  return sums;
}

namespace {

constexpr std::int64_t least_range = 1024;  // half of it would take as long as all of it
constexpr std::int64_t grain = 16;          // ranges begin at multiples, to align vector code

std::int64_t middle_of(std::int64_t begin, std::int64_t end) {
  if (end - begin < least_range) return end;
  return begin + ((end - begin) / 2 + grain - 1) / grain * grain;
}

// Finds all swaps by walking the tree. Swaps of a node follow those of its children.
class Walk {
 public:
  Walk(std::int64_t batch, std::int64_t ranks, std::int64_t length)
      : batch_(batch), share_(batch / ranks), length_(length), parts_(static_cast<std::size_t>(ranks), 0) {}

  SumByHalves run() {
    std::int64_t width = 1;
    while (width < batch_) width *= 2;
    SumByHalves result;
    result.ranges = visit(0, width);
    result.swaps = std::move(swaps_);
    return result;
  }

 private:
  std::int64_t owner(std::int64_t sample) const { return sample / share_; }

  // Where the sum of samples first .. first + width is stored, in row order.
  std::vector<RowRange> visit(std::int64_t first, std::int64_t width) {
    const std::int64_t last = std::min(first + width, batch_), middle = first + width / 2;
    if (const std::int64_t here = owner(first); owner(last - 1) == here)
      return {{0, length_, {here, parts_[static_cast<std::size_t>(here)]++}}};
    std::vector<RowRange> left = visit(first, width / 2);
    if (middle >= batch_) return left;
    return meet(left, visit(middle, width / 2));
  }

  // Intersects the ranges of two children that were split differently.
  std::vector<RowRange> meet(const std::vector<RowRange>& left, const std::vector<RowRange>& right) {
    std::vector<RowRange> sum;
    for (auto a = left.begin(), b = right.begin(); a != left.end() && b != right.end();) {
      const Swap swap = swap_of(*a, *b);
      swaps_.push_back(swap);
      add(sum, {swap.begin, swap.middle, swap.left});
      add(sum, {swap.middle, swap.end, swap.right});
      const std::int64_t reached = swap.end;
      if (a->end == reached) ++a;
      if (b->end == reached) ++b;
    }
    return sum;
  }

  static Swap swap_of(const RowRange& a, const RowRange& b) {
    const std::int64_t begin = std::max(a.begin, b.begin), end = std::min(a.end, b.end);
    return {a.at, b.at, begin, a.at.rank == b.at.rank ? end : middle_of(begin, end), end};
  }

  static void add(std::vector<RowRange>& sum, const RowRange& next) {
    if (next.begin == next.end) return;
    if (!sum.empty() && sum.back().at == next.at)
      sum.back().end = next.end;
    else
      sum.push_back(next);
  }

  std::int64_t batch_, share_, length_;
  std::vector<std::int64_t> parts_;  // number of parts per rank so far
  std::vector<Swap> swaps_;
};

}  // namespace

SumByHalves sum_by_halves(std::int64_t batch, std::int64_t ranks, std::int64_t length) {
  assert(ranks > 0 && batch % ranks == 0 && length > 0);
  return Walk(batch, ranks, length).run();
}

SumByHalves of_rank(const SumByHalves& all, std::int64_t rank) {
  SumByHalves mine;
  std::copy_if(all.swaps.begin(), all.swaps.end(), std::back_inserter(mine.swaps),
               [&](const Swap& swap) { return swap.left.rank == rank || swap.right.rank == rank; });
  std::copy_if(all.ranges.begin(), all.ranges.end(), std::back_inserter(mine.ranges),
               [&](const RowRange& range) { return range.at.rank == rank; });
  return mine;
}

std::int64_t exchange_chunk_bytes(std::int64_t ranks) {
  return std::min<std::int64_t>(ranks, 16) * exchange_block_bytes;
}

}  // namespace voxswap::net
