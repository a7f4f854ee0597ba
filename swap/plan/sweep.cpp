#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <queue>
#include <span>

#include "swap/plan/arena.h"

namespace voxswap::swap {
namespace {

struct Rule {
  // Intervals that end sooner, or are smaller, are placed as high below the aim as possible, the others low.
  std::int32_t short_life = 0;
  std::int64_t small = 0;
  bool tightest = false;  // use the smallest sufficient gap instead of the outermost
};

// Free gaps by offset. Even with thousands of live intervals there are few gaps.
class Free {
 public:
  Free(const Rule& rule, std::int64_t aim) : rule_(rule), aim_(aim) {}

  std::int64_t place(const Interval& interval) {
    for (; !live_.empty() && live_.top().last < interval.first; live_.pop()) give_back(live_.top());
    Interval placed = interval;
    const std::size_t gap = find_gap(interval.bytes, is_low(interval));
    placed.offset =
        is_low(interval) || !holds(gap, interval.bytes) ? gaps_[gap].begin : end_of(gap) - interval.bytes;
    take(gap, placed);
    live_.push(placed);
    return placed.offset;
  }

 private:
  struct Gap {
    std::int64_t begin = 0, end = std::numeric_limits<std::int64_t>::max();
  };
  struct EndsLater {
    bool operator()(const Interval& x, const Interval& y) const { return x.last > y.last; }
  };

  bool is_low(const Interval& interval) const {
    return interval.last - interval.first >= rule_.short_life && interval.bytes >= rule_.small;
  }
  // The last gap has no end; placing high in it means just below the aim.
  std::int64_t end_of(std::size_t gap) const { return gap + 1 < gaps_.size() ? gaps_[gap].end : aim_; }
  bool holds(std::size_t gap, std::int64_t bytes) const { return end_of(gap) - gaps_[gap].begin >= bytes; }

  // The last gap if no other is large enough.
  std::size_t find_gap(std::int64_t bytes, bool low) const {
    const std::size_t count = gaps_.size();
    std::size_t found = count - 1;
    std::int64_t tightest = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t gap = low ? i : count - 1 - i;
      const std::int64_t size = end_of(gap) - gaps_[gap].begin;
      if (size < bytes || size >= tightest) continue;
      found = gap;
      tightest = size;
      if (!rule_.tightest) break;
    }
    return found;
  }

  void take(std::size_t at, const Interval& placed) {
    const Gap gap = gaps_[at];
    const auto place = gaps_.begin() + static_cast<std::ptrdiff_t>(at);
    const std::int64_t end = placed.offset + placed.bytes;
    if (gap.begin < placed.offset && end < gap.end) {
      place->begin = end;
      gaps_.insert(place, {gap.begin, placed.offset});
    } else if (gap.begin < placed.offset) {
      place->end = placed.offset;
    } else if (end < gap.end) {
      place->begin = end;
    } else {
      gaps_.erase(place);
    }
  }

  void give_back(const Interval& ended) {
    const std::int64_t end = ended.offset + ended.bytes;
    const auto above = std::upper_bound(gaps_.begin(), gaps_.end(), ended.offset,
                                        [](std::int64_t at, const Gap& gap) { return at < gap.begin; });
    const bool joins_below = above != gaps_.begin() && std::prev(above)->end == ended.offset;
    const bool joins_above = above->begin == end;
    if (joins_below && joins_above) {
      std::prev(above)->end = above->end;
      gaps_.erase(above);
    } else if (joins_below) {
      std::prev(above)->end = end;
    } else if (joins_above) {
      above->begin = ended.offset;
    } else {
      gaps_.insert(above, {ended.offset, end});
    }
  }

  Rule rule_;
  std::int64_t aim_;
  std::vector<Gap> gaps_{{}};
  std::priority_queue<Interval, std::vector<Interval>, EndsLater> live_;  // and some that ended recently
};

// Sorted by first instruction, then by falling size.
std::vector<std::size_t> in_time(const std::vector<Interval>& intervals) {
  std::vector<std::size_t> order(intervals.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Interval &x = intervals[a], &y = intervals[b];
    return x.first != y.first ? x.first < y.first : x.bytes > y.bytes;
  });
  return order;
}

std::vector<Interval> backwards(std::vector<Interval> intervals) {
  for (Interval& interval : intervals) {
    const std::int32_t first = -interval.last;
    interval.last = -interval.first;
    interval.first = first;
  }
  return intervals;
}

// Rounds large intervals of similar size up to one size. Slabs of different volumes differ by a few per cent,
// and gaps that are slightly too small for the next slab add up.
std::vector<Interval> in_slots(std::vector<Interval> intervals) {
  std::int64_t largest = 0;
  for (const Interval& interval : intervals) largest = std::max(largest, interval.bytes);
  const std::int64_t slot = (largest / 16 + place_alignment - 1) / place_alignment * place_alignment;
  for (Interval& interval : intervals)
    if (interval.bytes > largest / 2)
      interval.bytes = std::min(largest, (interval.bytes + slot - 1) / slot * slot);
  return intervals;
}

// Ordered so that the first ones usually suffice.
std::vector<Rule> rules(const std::vector<Interval>& intervals, bool thorough) {
  std::int32_t end = 0;
  std::int64_t largest = 0;
  for (const Interval& interval : intervals) {
    end = std::max(end, interval.last + 1);
    largest = std::max(largest, interval.bytes);
  }
  constexpr std::int32_t parts[] = {64, 32, 16, 128, 256, 8, 4};  // of the step
  std::vector<Rule> all;
  for (const std::int32_t part : std::span(parts, thorough ? std::size(parts) : 3))
    for (const std::int64_t small : {largest / 2, std::int64_t{0}})
      for (const bool tightest : {false, true}) all.push_back({end / part, small, tightest});
  if (thorough) all.push_back({0, 0, false});
  return all;
}

}  // namespace

std::vector<std::int64_t> sweep(const std::vector<Interval>& intervals, std::int64_t aim, bool thorough) {
  const std::vector<Interval> slots = in_slots(intervals);
  const std::vector<Interval> sequences[] = {backwards(slots), slots, backwards(intervals), intervals};
  std::vector<std::size_t> orders[std::size(sequences)];
  for (std::size_t sequence = 0; sequence < std::size(sequences); ++sequence)
    orders[sequence] = in_time(sequences[sequence]);
  std::vector<std::int64_t> best;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const Rule& rule : rules(intervals, thorough))
    for (std::size_t sequence = 0; sequence < std::size(sequences); ++sequence) {
      Free free(rule, aim);
      std::vector<std::int64_t> offsets(intervals.size());
      std::int64_t height = 0;
      for (auto i = orders[sequence].begin(); i != orders[sequence].end() && height < least; ++i) {
        offsets[*i] = free.place(sequences[sequence][*i]);
        height = std::max(height, offsets[*i] + intervals[*i].bytes);
      }
      if (height >= least) continue;
      least = height;
      best = std::move(offsets);
      if (least <= aim) return best;
    }
  return best;
}

}  // namespace voxswap::swap
