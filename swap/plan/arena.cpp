// Offline first fit and best fit over several orders, and repairs by reordering.
#include "swap/plan/arena.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "base/interrupt.h"
#include "base/philox.h"

namespace voxswap::swap {
namespace {

using Order = std::vector<std::size_t>;
enum class Fit { first, best };
constexpr std::size_t very_many = 2000;  // intervals: orders by size and repairs would take seconds

struct Packing {
  Order order;
  Fit fit = Fit::first;
  std::vector<std::int64_t> offsets;  // per interval
  std::int64_t height = std::numeric_limits<std::int64_t>::max();
  std::int64_t over = std::numeric_limits<std::int64_t>::max();  // sum of bytes above the aim
};

bool overlap_in_time(const Interval& a, const Interval& b) {
  return (a.first <= b.last) & (b.first <= a.last);
}

// The offset for `interval` among those placed so far: the lowest gap that is large
// enough, or the smallest such gap.
std::int64_t find_gap(const Placed& placed, const Interval& interval, Fit fit) {
  std::int64_t top = 0, best = -1, tightest = std::numeric_limits<std::int64_t>::max();
  for (const Interval& other : placed.beside(interval)) {
    const bool in_the_way = overlap_in_time(other, interval);
    const std::int64_t gap = other.offset - top;
    if (in_the_way & (gap >= interval.bytes) &
        (gap < tightest)) {  // rarely true; separate branches cost more
      if (fit == Fit::first) return top;
      best = top;
      tightest = gap;
    }
    top = in_the_way ? std::max(top, other.offset + other.bytes) : top;
  }
  return best >= 0 ? best : top;
}

// Places the intervals at positions `from` and later in the order; earlier ones keep their offsets in
// `packing`. Stops early when more than `most` bytes are above the aim.
void place_from(std::size_t from, const std::vector<Interval>& intervals, std::int64_t aim, std::int64_t most,
                Packing& packing) {
  Placed placed(intervals);
  packing.height = packing.over = 0;
  const auto note = [&](std::size_t i) {
    const std::int64_t top = packing.offsets[i] + intervals[i].bytes;
    packing.height = std::max(packing.height, top);
    packing.over += std::max<std::int64_t>(top - aim, 0);
  };
  for (std::size_t k = 0; k < from; ++k) {
    const std::size_t i = packing.order[k];
    Interval interval = intervals[i];
    interval.offset = packing.offsets[i];
    placed.append(interval);
    note(i);
  }
  placed.sort();
  for (std::size_t k = from; k < packing.order.size() && packing.over <= most; ++k) {
    const std::size_t i = packing.order[k];
    Interval interval = intervals[i];
    interval.offset = packing.offsets[i] = find_gap(placed, interval, packing.fit);
    note(i);
    placed.add(interval);
  }
}

Packing place_in_order(const std::vector<Interval>& intervals, const Order& order, Fit fit,
                       std::int64_t aim) {
  Packing packing{order, fit, std::vector<std::int64_t>(intervals.size()), 0, 0};
  place_from(0, intervals, aim, std::numeric_limits<std::int64_t>::max(), packing);
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

// Moves intervals that reach above the aim, or that are live together with one that does, to an earlier
// position in the order, where they find a better place. Accepts orders that are no worse, because a
// different order of equal quality is a new starting point.
void repair(const std::vector<Interval>& intervals, const Philox& random, std::uint64_t& draw,
            std::int64_t aim, Packing& packing) {
  throw_if_interrupted();
  const Order& order = packing.order;
  std::vector<std::size_t> found(order.size());  // positions in the order
  const auto find = [&](auto is_meant) {
    std::size_t count = 0;  // branch-free: half of the branches would be mispredicted
    for (std::size_t k = 0; k < order.size(); ++k) {
      found[count] = k;
      count += is_meant(k) ? 1 : 0;
    }
    return count;
  };
  const std::size_t at_top =
      find([&](std::size_t k) { return packing.offsets[order[k]] + intervals[order[k]].bytes > aim; });
  std::size_t from = found[random.word(draw++) % at_top];
  if (random.word(draw++) % 2 == 0) {
    const Interval& high = intervals[order[from]];
    const std::size_t neighbours =
        find([&](std::size_t k) { return (k != from) & overlap_in_time(intervals[order[k]], high); });
    if (neighbours > 0) from = found[random.word(draw++) % neighbours];
  }
  const std::size_t to = from == 0 ? 0 : random.word(draw++) % from;
  Packing other = packing;
  const auto begin = other.order.begin();
  std::rotate(begin + static_cast<std::ptrdiff_t>(to), begin + static_cast<std::ptrdiff_t>(from),
              begin + static_cast<std::ptrdiff_t>(from) + 1);
  place_from(to, intervals, aim, packing.over, other);
  if (other.over <= packing.over) packing = std::move(other);
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

namespace {

// The best packing found; stops at the first that is no higher than `aim`.
Packing search(const std::vector<Interval>& intervals, std::int64_t aim, double effort) {
  const auto length = [](const Interval& i) { return static_cast<double>(i.last - i.first + 1); };
  const auto size = [](const Interval& i) { return static_cast<double>(i.bytes); };
  const Order orders[] = {
      by_falling(intervals, size),
      by_falling(intervals, [&](const Interval& i) { return size(i) * length(i); }),
      by_falling(intervals, length),
      by_falling(intervals, [](const Interval& i) { return -static_cast<double>(i.first); }),
      by_falling(intervals, [](const Interval& i) { return static_cast<double>(i.last); }),
  };
  std::vector<Packing> starts;
  for (const Order& order : orders)
    for (const Fit fit : {Fit::first, Fit::best}) {
      starts.push_back(place_in_order(intervals, order, fit, aim));
      if (starts.back().over == 0) return starts.back();
    }
  std::stable_sort(starts.begin(), starts.end(),
                   [](const Packing& a, const Packing& b) { return a.over < b.over; });

  // A placement costs about n^2 / 2 comparisons.
  const auto n = static_cast<double>(intervals.size());
  constexpr std::size_t tries = 3;  // packings to repair
  const int repairs = static_cast<int>(std::clamp(effort / (n * n * tries), 10.0, 4000.0));
  const Philox random(0x7061636b, 0);
  std::uint64_t draw = 0;
  for (std::size_t start = 0; start < tries; ++start) {
    Packing& best = starts[start];
    for (int i = 0; i < repairs && best.over > 0; ++i) repair(intervals, random, draw, aim, best);
    if (best.over == 0) return best;
  }
  return *std::min_element(starts.begin(), starts.end(),
                           [](const Packing& a, const Packing& b) { return a.height < b.height; });
}

std::int64_t sweep_within(std::vector<Interval>& intervals, std::int64_t aim, bool thorough) {
  const std::vector<std::int64_t> offsets =
      sweep(intervals, aim / place_alignment * place_alignment, thorough);
  std::int64_t height = 0;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    intervals[i].offset = offsets[i];
    height = std::max(height, offsets[i] + intervals[i].bytes);
  }
  return height;
}

// A sweep uses all memory up to its aim, so the aim starts little above the live limit.
std::int64_t pack_by_sweeps(std::vector<Interval>& intervals, std::int64_t limit, std::int64_t enough,
                            bool thorough) {
  for (const double more : {1.02, 1.1, 1.5}) {
    const auto aim = static_cast<std::int64_t>(more * static_cast<double>(limit));
    if (!thorough || aim >= enough) break;
    if (const std::int64_t height = sweep_within(intervals, aim, false); height <= aim) return height;
  }
  return sweep_within(intervals, std::max(limit, enough), thorough);
}

}  // namespace

// The few large intervals decide the height. They are packed first; the small ones then fill the gaps.
std::int64_t pack(std::vector<Interval>& intervals, std::int64_t enough, double effort) {
  if (intervals.empty()) return 0;
  const std::int64_t limit = live_limit(intervals), aim = std::max(limit, enough);
  if (intervals.size() > very_many) return pack_by_sweeps(intervals, limit, enough, effort > 2e6);
  std::vector<std::size_t> large;
  for (std::size_t i = 0; i < intervals.size(); ++i)
    if (intervals[i].bytes > aim / 200) large.push_back(i);
  Packing best;
  if (large.size() < intervals.size() && large.size() > 1) {
    std::vector<Interval> few;
    for (const std::size_t i : large) few.push_back(intervals[i]);
    const Packing of_large = search(few, aim, effort);
    Order order;
    for (const std::size_t i : of_large.order) order.push_back(large[i]);
    for (const std::size_t i :
         by_falling(intervals, [](const Interval& x) { return static_cast<double>(x.bytes); }))
      if (intervals[i].bytes <= aim / 200) order.push_back(i);
    best = place_in_order(intervals, order, of_large.fit, aim);
    const Philox random(0x66696c6c, 0);
    std::uint64_t draw = 0;
    const auto n = static_cast<double>(intervals.size());
    const int repairs = static_cast<int>(std::clamp(effort / 4 / (n * n), 10.0, 1000.0));
    for (int i = 0; i < repairs && best.over > 0; ++i) repair(intervals, random, draw, aim, best);
  }
  if (best.over > 0) {
    Packing other = search(intervals, aim, effort / 4);
    if (other.height < best.height) best = std::move(other);
  }
  for (std::size_t i = 0; i < intervals.size(); ++i) intervals[i].offset = best.offsets[i];
  return best.height;
}

}  // namespace voxswap::swap
