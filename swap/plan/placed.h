// Intervals that have their places, found again by when they live: what is live beside a short interval is a
// small part of all.
//
// Time is divided into stretches, on several levels four times as fine each, which overlap by half: an
// interval of up to half a stretch lies in one of them as a whole. Every stretch lists what lives in it by
// rising offset.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "swap/plan/interval.h"

namespace voxswap::swap {

class Placed {
 public:
  explicit Placed(const std::vector<Interval>& intervals) {
    std::int64_t end = 1;
    for (const Interval& interval : intervals) end = std::max<std::int64_t>(end, interval.last + 1);
    levels_.push_back({end, end, {{}}});
    constexpr std::size_t few = 256, finest = 3;  // with few intervals one list of all is as fast
    for (std::size_t level = 1; intervals.size() > few && level <= finest; ++level) {
      const std::int64_t stride = (end >> (2 * level)) / 2 + 1;
      levels_.push_back({stride, 2 * stride, {}});
      levels_.back().lists.resize(static_cast<std::size_t>(end / stride) + 1);
    }
  }

  void add(const Interval& interval) {
    for_each_list(interval, [&](std::vector<Interval>& list) {
      list.insert(std::upper_bound(list.begin(), list.end(), interval, lower), interval);
    });
  }
  // Many at once; sort() when all are there. In which order those of one offset are, makes no difference to a
  // search for gaps.
  void append(const Interval& interval) {
    for_each_list(interval, [&](std::vector<Interval>& list) { list.push_back(interval); });
  }
  void sort() {
    for (Level& level : levels_)
      for (std::vector<Interval>& list : level.lists) std::sort(list.begin(), list.end(), lower);
  }

  // All that live at the same time as `interval`, and others, by rising offset.
  const std::vector<Interval>& beside(const Interval& interval) const {
    for (std::size_t level = levels_.size() - 1; level > 0; --level)
      if (interval.last - interval.first < levels_[level].stride)
        return levels_[level].lists[static_cast<std::size_t>(interval.first / levels_[level].stride)];
    return levels_[0].lists[0];
  }

 private:
  // List i has what lives in [i stride, i stride + width).
  struct Level {
    std::int64_t stride, width;
    std::vector<std::vector<Interval>> lists;
  };
  static bool lower(const Interval& x, const Interval& y) { return x.offset < y.offset; }

  template <class Do>
  void for_each_list(const Interval& interval, Do on) {
    for (Level& level : levels_) {
      const std::int64_t first = std::max<std::int64_t>(0, (interval.first - level.width) / level.stride + 1),
                         last = interval.last / level.stride;
      for (std::int64_t i = interval.first < level.width ? 0 : first; i <= last; ++i)
        on(level.lists[static_cast<std::size_t>(i)]);
    }
  }

  std::vector<Level> levels_;
};

}  // namespace voxswap::swap
