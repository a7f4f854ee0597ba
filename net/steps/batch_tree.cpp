#include "net/steps/batch_tree.h"

#include <algorithm>
#include <cassert>

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

}  // namespace voxswap::net
