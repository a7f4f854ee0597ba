// Assigns offsets in one block of memory to intervals of time: dynamic storage allocation, which is NP-hard,
// so these are heuristics.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace voxswap::swap {

// Something that needs memory from one instruction to another.
constexpr std::int64_t place_alignment = 64;  // bytes: a cache line, and the widest vector register

struct Interval {
  std::int64_t bytes = 0;            // a multiple of place_alignment
  std::int32_t first = 0, last = 0;  // both included
  std::int64_t offset = 0;           // what pack() finds
};

// What a value of `bytes` occupies.
inline std::int64_t occupied(std::int64_t bytes) {
  const std::int64_t least = bytes > 0 ? bytes : 1;
  return (least + place_alignment - 1) / place_alignment * place_alignment;
}

// Sets the offsets so that no two intervals that are live at the same time overlap; returns the height that
// is needed. Deterministic. Places the intervals one after the other in several orders (by size, by size
// times lifetime, by start), each at the lowest or at the tightest gap, then repairs the best packings by
// placing what reaches too high earlier; stops when no more than `enough` or the live limit is needed. Very
// many are packed in order of time instead (sweep.cpp), which takes some hundredths of a second.
// `effort` is about the number of comparisons; the default takes some tenths of a second at most.
constexpr double usual_effort = 2e8;
std::int64_t pack(std::vector<Interval>& intervals, std::int64_t enough = 0, double effort = usual_effort);

// The largest sum of bytes live at one instruction: no packing is lower.
std::int64_t live_limit(const std::vector<Interval>& intervals);

// Packing in order of time: every interval gets its place when it begins, beside those that are live then.
// Looking at what is live alone is fast where there are thousands, and packs pieces well, which are many of
// one size.

// The offset of every interval: of several sweeps, forwards and backwards in time, the first that is no
// higher than `aim`, or the lowest. Thorough: of more than twice as many. REQUIRES: an aim that is a multiple
// of place_alignment.
std::vector<std::int64_t> sweep(const std::vector<Interval>& intervals, std::int64_t aim, bool thorough);

// Intervals that have their places, found again by when they live: what is live beside a short interval is a
// small part of all.
//
// Time is divided into time slices, on several levels four times as fine each, which overlap by half: an
// interval of up to half a time slice lies in one of them as a whole. Every time slice lists what lives in it
// by rising offset.
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
