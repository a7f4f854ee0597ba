// Assigns offsets in one block of memory to intervals of time: dynamic storage allocation, which is NP-hard,
// so these are heuristics.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace voxswap::swap {

constexpr std::int64_t place_alignment = 64;  // bytes: a cache line, and the widest vector register

// A request for memory from one instruction to another.
struct Interval {
  std::int64_t bytes = 0;            // a multiple of place_alignment
  std::int32_t first = 0, last = 0;  // both included
  std::int64_t offset = 0;           // set by pack()
};

// Bytes that a value of `bytes` occupies.
inline std::int64_t occupied(std::int64_t bytes) {
  const std::int64_t least = bytes > 0 ? bytes : 1;
  return (least + place_alignment - 1) / place_alignment * place_alignment;
}

// Sets the offsets so that no two intervals that are live at the same time overlap; returns the height. The
// result is deterministic. Intervals are placed one by one in several orders (by size, by size times
// lifetime, by start), in the lowest or the tightest gap. The best packings are then repaired by placing
// intervals that reach too high earlier. Stops at a height of `enough` or the live limit. Thousands of
// intervals are packed in order of time instead (sweep.cpp), in some hundredths of a second. `effort` is
// about the number of comparisons; the default takes some tenths of a second at most.
constexpr double usual_effort = 2e8;
std::int64_t pack(std::vector<Interval>& intervals, std::int64_t enough = 0, double effort = usual_effort);

// The largest sum of bytes live at one instruction: no packing is lower.
std::int64_t live_limit(const std::vector<Interval>& intervals);

// Packs in order of time: every interval is placed when it begins, next to the intervals that are live then.
// This is fast for thousands of intervals and packs slabs well, of which many have one size. Returns the
// offset of every interval, from the first of several sweeps, forwards and backwards in time, that is no
// higher than `aim`, or from the lowest. `thorough` tries more than twice as many. REQUIRES: `aim` is a
// multiple of place_alignment.
std::vector<std::int64_t> sweep(const std::vector<Interval>& intervals, std::int64_t aim, bool thorough);

// An index of placed intervals by time: only few of them are live together with a short interval.
//
// Time is divided into slices that overlap by half, on several levels, each four times as fine as the one
// before. An interval of up to half a slice is inside some slice as a whole. Every slice lists its intervals
// by offset.
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
  // For many at once: call sort() after the last. The order of equal offsets does not matter.
  void append(const Interval& interval) {
    for_each_list(interval, [&](std::vector<Interval>& list) { list.push_back(interval); });
  }
  void sort() {
    for (Level& level : levels_)
      for (std::vector<Interval>& list : level.lists) std::sort(list.begin(), list.end(), lower);
  }

  // All intervals that are live together with `interval`, and some others, by offset.
  const std::vector<Interval>& beside(const Interval& interval) const {
    for (std::size_t level = levels_.size() - 1; level > 0; --level)
      if (interval.last - interval.first < levels_[level].stride)
        return levels_[level].lists[static_cast<std::size_t>(interval.first / levels_[level].stride)];
    return levels_[0].lists[0];
  }

 private:
  // List i has the intervals that are live in [i stride, i stride + width).
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
