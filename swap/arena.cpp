// Offline first fit and best fit over several orders, and repairs by reordering.
#include "swap/arena.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "base/philox.h"

namespace voxswap {
namespace {

using Order = std::vector<std::size_t>;
enum class Fit { first, best };

struct Packing {
  Order order;
  Fit fit = Fit::first;
  std::vector<std::int64_t> offsets;  // per interval
  std::int64_t height = std::numeric_limits<std::int64_t>::max();
};

bool overlap_in_time(const Interval& a, const Interval& b) {
  return a.first <= b.last && b.first <= a.last;
}

// The offset for `interval` among those `placed` so far (sorted by offset): the lowest gap that is large
// enough, or the smallest such gap.
std::int64_t find_gap(const std::vector<Interval>& placed, const Interval& interval, Fit fit) {
  std::int64_t top = 0, best = -1, tightest = std::numeric_limits<std::int64_t>::max();
  for (const Interval& other : placed) {
    if (!overlap_in_time(other, interval)) continue;
    const std::int64_t gap = other.offset - top;
    if (gap >= interval.bytes && gap < tightest) {
      if (fit == Fit::first) return top;
      best = top;
      tightest = gap;
    }
    top = std::max(top, other.offset + other.bytes);
  }
  return best >= 0 ? best : top;
}

Packing place_in_order(const std::vector<Interval>& intervals, const Order& order, Fit fit) {
  Packing packing{order, fit, std::vector<std::int64_t>(intervals.size()), 0};
  std::vector<Interval> placed;
  placed.reserve(intervals.size());
  for (const std::size_t i : order) {
    Interval interval = intervals[i];
    interval.offset = packing.offsets[i] = find_gap(placed, interval, fit);
    packing.height = std::max(packing.height, interval.offset + interval.bytes);
    const auto above = [](std::int64_t offset, const Interval& other) { return offset < other.offset; };
    placed.insert(std::upper_bound(placed.begin(), placed.end(), interval.offset, above), interval);
  }
  return packing;
}

// Indices by falling key; ties by rising index, so that the result is the same everywhere.
Order by_falling(const std::vector<Interval>& intervals, const std::function<double(const Interval&)>& key) {
  Order order(intervals.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return key(intervals[a]) > key(intervals[b]); });
  return order;
}

// What reaches the top of a packing, or what lies in the way of it (live at the same time), is moved to an
// earlier turn, where it finds a better place.
Order repaired(const std::vector<Interval>& intervals, const Packing& packing, const Philox& random,
               std::uint64_t& draw) {
  Order order = packing.order;
  std::vector<std::size_t> at_top;  // positions in the order
  for (std::size_t k = 0; k < order.size(); ++k)
    if (packing.offsets[order[k]] + intervals[order[k]].bytes == packing.height) at_top.push_back(k);
  std::size_t from = at_top[random.word(draw++) % at_top.size()];
  if (random.word(draw++) % 2 == 0) {
    std::vector<std::size_t> neighbours;
    for (std::size_t k = 0; k < order.size(); ++k)
      if (k != from && overlap_in_time(intervals[order[k]], intervals[order[from]])) neighbours.push_back(k);
    if (!neighbours.empty()) from = neighbours[random.word(draw++) % neighbours.size()];
  }
  const std::size_t to = from == 0 ? 0 : random.word(draw++) % from;
  const std::size_t moved = order[from];
  order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), moved);
  return order;
}

}  // namespace

std::int64_t live_limit(const std::vector<Interval>& intervals) {
  std::int32_t end = 0;
  for (const Interval& interval : intervals) end = std::max(end, interval.last + 1);
  std::vector<std::int64_t> change(static_cast<std::size_t>(end) + 1, 0);
  for (const Interval& interval : intervals) {
    change[static_cast<std::size_t>(interval.first)] += interval.bytes;
    change[static_cast<std::size_t>(interval.last) + 1] -= interval.bytes;
  }
  std::int64_t live = 0, limit = 0;
  for (const std::int64_t step : change) limit = std::max(limit, live += step);
  return limit;
}

std::int64_t pack(std::vector<Interval>& intervals) {
  if (intervals.empty()) return 0;
  const std::int64_t limit = live_limit(intervals);
  const auto length = [](const Interval& i) { return static_cast<double>(i.last - i.first + 1); };
  const auto size = [](const Interval& i) { return static_cast<double>(i.bytes); };
  const Order orders[] = {
      by_falling(intervals, size),
      by_falling(intervals, [&](const Interval& i) { return size(i) * length(i); }),
      by_falling(intervals, length),
      by_falling(intervals, [](const Interval& i) { return -static_cast<double>(i.first); }),
      by_falling(intervals, [](const Interval& i) { return static_cast<double>(i.last); }),
  };
  Packing best;
  for (const Order& order : orders)
    for (const Fit fit : {Fit::first, Fit::best}) {
      if (best.height == limit) break;
      if (Packing packing = place_in_order(intervals, order, fit); packing.height < best.height)
        best = std::move(packing);
    }

  // A placement costs about n^2 / 2 comparisons; the number of repairs keeps the whole under a second.
  const auto n = static_cast<double>(intervals.size());
  const int repairs = static_cast<int>(std::clamp(2e8 / (n * n), 20.0, 1000.0));
  const Philox random(0x70616b, 0);
  std::uint64_t draw = 0;
  for (int i = 0; i < repairs && best.height > limit; ++i) {
    Packing packing = place_in_order(intervals, repaired(intervals, best, random, draw), best.fit);
    if (packing.height <= best.height) best = std::move(packing);  // equal: another way to go on from
  }
  for (std::size_t i = 0; i < intervals.size(); ++i) intervals[i].offset = best.offsets[i];
  return best.height;
}

}  // namespace voxswap
