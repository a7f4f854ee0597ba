#include "swap/plan/sweep.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace voxswap::swap {
namespace {

struct Rule {
  std::int32_t short_life = 0;  // what lives no longer lies as high up below the aim as it can, the rest low
  bool tightest = false;        // in the smallest gap that is large enough, not the outermost
};

// What is live, by rising offset.
class Live {
 public:
  Live(const Rule& rule, std::int64_t aim) : rule_(rule), aim_(aim) {}

  std::int64_t place(Interval interval) {
    std::erase_if(live_, [&](const Interval& other) { return other.last < interval.first; });
    interval.offset = find_gap(interval);
    live_.insert(std::upper_bound(live_.begin(), live_.end(), interval, lower), interval);
    return interval.offset;
  }

 private:
  static bool lower(const Interval& x, const Interval& y) { return x.offset < y.offset; }

  std::int64_t find_gap(const Interval& interval) const {
    const bool low = interval.last - interval.first >= rule_.short_life;
    std::int64_t top = 0, found = -1, tightest = std::numeric_limits<std::int64_t>::max();
    const auto offer = [&](std::int64_t end) {  // the gap from `top` to `end`
      const std::int64_t gap = end - top;
      if (gap < interval.bytes || (low && !rule_.tightest && found >= 0)) return;
      if (rule_.tightest && (gap > tightest || (low && gap == tightest))) return;
      tightest = gap;
      found = low ? top : end - interval.bytes;
    };
    for (const Interval& other : live_) {
      offer(other.offset);
      top = std::max(top, other.offset + other.bytes);
    }
    offer(aim_);
    return found >= 0 ? found : top;
  }

  Rule rule_;
  std::int64_t aim_;
  std::vector<Interval> live_;
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

}  // namespace

std::vector<std::int64_t> sweep(const std::vector<Interval>& intervals, std::int64_t aim) {
  std::int32_t end = 0;
  for (const Interval& interval : intervals) end = std::max(end, interval.last + 1);
  const std::vector<Interval> ways[] = {backwards(intervals), intervals};
  const std::vector<std::size_t> orders[] = {in_time(ways[0]), in_time(ways[1])};
  std::vector<std::int64_t> best;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const std::int32_t part : {64, 32, 16, 128, 256, 8, 4, 1})  // of the time: a short life
    for (const bool tightest : {false, true})
      for (const std::size_t way : {std::size_t{0}, std::size_t{1}}) {
        Live live({part == 1 ? 0 : end / part, tightest}, aim);
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
