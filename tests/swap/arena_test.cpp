// Interval packing: always valid, optimal where the optimum is known, near the limit elsewhere.
#include "swap/plan/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>

#include "base/philox.h"

namespace voxswap::swap {
namespace {

bool meet_in_time(const Interval& a, const Interval& b) {
  return a.first <= b.last && b.first <= a.last;
}

std::vector<Interval> random_intervals(std::uint64_t seed, int count, int span, int length) {
  const Philox random(seed, 2);
  std::vector<Interval> intervals;
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::uint64_t>(3 * i);
    const auto first = static_cast<std::int32_t>(random.word(at) % static_cast<unsigned>(span));
    const auto more = static_cast<std::int32_t>(random.word(at + 1) % static_cast<unsigned>(length));
    intervals.push_back(
        {64 * static_cast<std::int64_t>(1 + random.word(at + 2) % 9), first, first + more, 0});
  }
  return intervals;
}

void expect_sound(const std::vector<Interval>& intervals, std::int64_t height) {
  std::int64_t top = 0;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const Interval& a = intervals[i];
    ASSERT_GE(a.offset, 0);
    ASSERT_EQ(a.offset % place_alignment, 0);
    top = std::max(top, a.offset + a.bytes);
    for (std::size_t j = 0; j < i; ++j) {
      const Interval& b = intervals[j];
      ASSERT_TRUE(!meet_in_time(a, b) || a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset);
    }
  }
  EXPECT_EQ(height, top);
}

// Placing intervals in the order of their offsets, each as low as possible, reproduces any optimal packing.
// So the best over all orders is the optimum.
std::int64_t optimum(const std::vector<Interval>& intervals) {
  std::vector<std::size_t> order(intervals.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::int64_t best = -1;
  do {
    std::vector<Interval> placed;
    std::int64_t height = 0;
    for (const std::size_t i : order) {
      Interval interval = intervals[i];
      for (bool moved = true; moved;) {
        moved = false;
        for (const Interval& other : placed)
          if (meet_in_time(other, interval) && interval.offset < other.offset + other.bytes &&
              other.offset < interval.offset + interval.bytes) {
            interval.offset = other.offset + other.bytes;
            moved = true;
          }
      }
      height = std::max(height, interval.offset + interval.bytes);
      placed.push_back(interval);
    }
    if (best < 0 || height < best) best = height;
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(Arena, PlacesOccupyWholeCacheLines) {
  EXPECT_EQ(occupied(0), 64);
  EXPECT_EQ(occupied(1), 64);
  EXPECT_EQ(occupied(64), 64);
  EXPECT_EQ(occupied(65), 128);
}

TEST(Arena, NothingTakesNoRoom) {
  std::vector<Interval> none_at_all;
  EXPECT_EQ(pack(none_at_all), 0);
}

TEST(Arena, TheLimitIsTheLargestLiveSum) {
  // Instruction 2 holds 64 + 128 + 256, counted by hand.
  EXPECT_EQ(live_limit({{64, 0, 2, 0}, {128, 1, 2, 0}, {256, 2, 5, 0}, {192, 3, 3, 0}}), 448);
}

TEST(Arena, ReachesTheOptimumOfTinyCases) {
  int optimal = 0, cases = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::vector<Interval> intervals = random_intervals(seed, 2 + static_cast<int>(seed % 5), 5, 4);
    const std::int64_t height = pack(intervals), best = optimum(intervals);
    expect_sound(intervals, height);
    EXPECT_GE(height, best);
    EXPECT_LE(static_cast<double>(height), 1.15 * static_cast<double>(best)) << "seed " << seed;
    optimal += height == best ? 1 : 0;
    ++cases;
  }
  EXPECT_GE(optimal, cases * 98 / 100);
}

TEST(Arena, StaysNearTheLimitForManyIntervals) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    std::vector<Interval> intervals = random_intervals(seed, 300, 200, 30);
    const std::int64_t limit = live_limit(intervals), height = pack(intervals);
    expect_sound(intervals, height);
    EXPECT_LE(static_cast<double>(height), 1.10 * static_cast<double>(limit)) << "seed " << seed;
  }
}

TEST(Arena, TheSameIntervalsGetTheSamePlaces) {
  std::vector<Interval> a = random_intervals(3, 100, 50, 20), b = a;
  pack(a);
  pack(b);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].offset, b[i].offset);
}

// Like a step in slabs: many short intervals of one size or half of it, among some long ones.
TEST(Arena, ThousandsOfSlabsArePackedNearTheLimit) {
  const Philox random(7, 2);
  std::vector<Interval> intervals;
  for (std::int32_t i = 0; i < 3000; ++i) {
    const auto at = static_cast<std::uint64_t>(2 * i);
    const bool stays = random.word(at) % 8 == 0;
    const auto more =
        static_cast<std::int32_t>(stays ? 200 + random.word(at + 1) % 200 : 3 + random.word(at + 1) % 9);
    intervals.push_back({i % 3 == 0 ? 32 * 64 : 64 * 64, i, i + more, 0});
  }
  const std::int64_t limit = live_limit(intervals), height = pack(intervals, limit + 1);
  expect_sound(intervals, height);
  EXPECT_LE(static_cast<double>(height), 1.05 * static_cast<double>(limit));
}

TEST(Arena, FiveThousandIntervalsArePackedInSeconds) {
  std::vector<Interval> intervals = random_intervals(1, 5000, 2000, 100);
  const auto start = std::chrono::steady_clock::now();
  const std::int64_t height = pack(intervals);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  expect_sound(intervals, height);
  RecordProperty("seconds", std::to_string(seconds));
  // Generous: sanitizers and busy machines make it ten times slower than the second it takes.
  EXPECT_LT(seconds, 60);
}

}  // namespace
}  // namespace voxswap::swap
