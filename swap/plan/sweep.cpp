#include "swap/plan/sweep.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>

namespace voxswap::swap {
namespace {

struct Rule {
  // What lives no longer, or is smaller, lies as high up below the aim as it can, the rest low.
  std::int32_t short_life = 0;
  std::int64_t small = 0;
  bool tightest = false;  // in the smallest gap that is large enough, not the outermost
};

// What is live, by rising offset.
class Live {
 public:
  Live(const Rule& rule, std::int64_t aim) : rule_(rule), aim_(aim) {}

  std::int64_t place(Interval interval) {
    constexpr int seldom = 16;
    if (++placed_ % seldom == 0)
      std::erase_if(live_, [&](const Interval& other) { return other.last < interval.first; });
    interval.offset = find_gap(interval);
    live_.insert(std::upper_bound(live_.begin(), live_.end(), interval, lower), interval);
    return interval.offset;
  }

 private:
  static bool lower(const Interval& x, const Interval& y) { return x.offset < y.offset; }

  std::int64_t find_gap(const Interval& interval) const {
    const bool low = interval.last - interval.first >= rule_.short_life && interval.bytes >= rule_.small;
    std::int64_t top = 0, found = -1, tightest = std::numeric_limits<std::int64_t>::max();
    const auto offer = [&](std::int64_t end) {  // the gap from `top` to `end`
      const std::int64_t gap = end - top;
      if (gap < interval.bytes) return;
      if (rule_.tightest && (gap > tightest || (low && gap == tightest))) return;
      tightest = gap;
      found = low ? top : end - interval.bytes;
    };
    for (const Interval& other : live_) {
      if (other.last < interval.first) continue;
      if (low && !rule_.tightest && found >= 0) return found;
      offer(other.offset);
      top = std::max(top, other.offset + other.bytes);
    }
    if (found < 0 || !low || rule_.tightest) offer(aim_);
    return found >= 0 ? found : top;
  }

  Rule rule_;
  std::int64_t aim_;
  std::vector<Interval> live_;  // and what has been not long ago
  int placed_ = 0;
};

// By where they begin, the large ones first.
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

// The large ones of nearly the same size take the same: pieces of volumes of other types and channels have a
// few per cent more or less, and gaps that are a little too small for the next one add up.
std::vector<Interval> in_slots(std::vector<Interval> intervals) {
  std::int64_t largest = 0;
  for (const Interval& interval : intervals) largest = std::max(largest, interval.bytes);
  const std::int64_t slot = (largest / 16 + place_alignment - 1) / place_alignment * place_alignment;
  for (Interval& interval : intervals)
    if (interval.bytes > largest / 2)
      interval.bytes = std::min(largest, (interval.bytes + slot - 1) / slot * slot);
  return intervals;
}

// In the order in which they seldom have to be tried all.
std::vector<Rule> rules(const std::vector<Interval>& intervals, bool thorough) {
  std::int32_t end = 0;
  std::int64_t largest = 0;
  for (const Interval& interval : intervals) {
    end = std::max(end, interval.last + 1);
    largest = std::max(largest, interval.bytes);
  }
  constexpr std::int32_t parts[] = {64, 32, 16, 128, 256, 8, 4};  // of the time
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
  const std::vector<Interval> ways[] = {backwards(slots), slots, backwards(intervals), intervals};
  std::vector<std::size_t> orders[std::size(ways)];
  for (std::size_t way = 0; way < std::size(ways); ++way) orders[way] = in_time(ways[way]);
  std::vector<std::int64_t> best;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const Rule& rule : rules(intervals, thorough))
    for (std::size_t way = 0; way < std::size(ways); ++way) {
      Live live(rule, aim);
      std::vector<std::int64_t> offsets(intervals.size());
      std::int64_t height = 0;
      for (const std::size_t i : orders[way]) {
        offsets[i] = live.place(ways[way][i]);
        height = std::max(height, offsets[i] + intervals[i].bytes);
      }
      if (height >= least) continue;
      least = height;
      best = std::move(offsets);
      if (least <= aim) return best;
    }
  return best;
}

}  // namespace voxswap::swap
