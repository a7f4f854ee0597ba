// Range maximum with range addition: a segment tree, both operations in logarithmic time. A step in slabs has
// thousands of nodes and evictions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace voxswap::swap {

class RangeMax {
 public:
  explicit RangeMax(const std::vector<std::int64_t>& numbers) {
    while (leaves_ < numbers.size()) leaves_ *= 2;
    most_.assign(2 * leaves_, std::numeric_limits<std::int64_t>::min() / 2);
    added_.assign(2 * leaves_, 0);
    std::copy(numbers.begin(), numbers.end(), most_.begin() + static_cast<std::ptrdiff_t>(leaves_));
    for (std::size_t i = leaves_ - 1; i > 0; --i) most_[i] = std::max(most_[2 * i], most_[2 * i + 1]);
  }

  // The largest number in [from, to). REQUIRES: from < to.
  std::int64_t most(std::size_t from, std::size_t to) const { return most(1, 0, leaves_, from, to); }
  void add(std::size_t from, std::size_t to, std::int64_t number) { add(1, 0, leaves_, from, to, number); }

 private:
  std::int64_t most(std::size_t at, std::size_t begin, std::size_t end, std::size_t from,
                    std::size_t to) const {
    if (from <= begin && end <= to) return most_[at];
    const std::size_t middle = begin + (end - begin) / 2;
    std::int64_t result = std::numeric_limits<std::int64_t>::min() / 2;
    if (from < middle) result = most(2 * at, begin, middle, from, to);
    if (middle < to) result = std::max(result, most(2 * at + 1, middle, end, from, to));
    return result + added_[at];
  }
  void add(std::size_t at, std::size_t begin, std::size_t end, std::size_t from, std::size_t to,
           std::int64_t number) {
    if (from <= begin && end <= to) {
      most_[at] += number;
      added_[at] += number;
      return;
    }
    const std::size_t middle = begin + (end - begin) / 2;
    if (from < middle) add(2 * at, begin, middle, from, to, number);
    if (middle < to) add(2 * at + 1, middle, end, from, to, number);
    most_[at] = std::max(most_[2 * at], most_[2 * at + 1]) + added_[at];
  }

  std::size_t leaves_ = 1;
  std::vector<std::int64_t> most_, added_;  // added_: to the whole subtree; most_ includes it
};

// Collects additions to ranges and applies them all at once, in linear time.
class RangeAdd {
 public:
  explicit RangeAdd(std::size_t count) : change_(count + 1, 0) {}
  void add(std::size_t from, std::size_t to, std::int64_t number) {  // to [from, to)
    if (from >= to) return;
    change_[from] += number;
    change_[to] -= number;
  }
  void apply(std::vector<std::int64_t>& numbers) const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += sum += change_[i];
  }

 private:
  std::vector<std::int64_t> change_;
};

}  // namespace voxswap::swap
