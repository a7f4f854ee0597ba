// A simulated link: neither faster nor slower than requested.
#include "swap/execute/slow_link.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "net/backends/backends.h"
#include "net/backends/cpu/host_device.h"

namespace voxswap::swap {
namespace {

// Runs the copies [first, last) of those added, of so many bytes each, and checks that they arrive.
void copy_over(SlowLink& link, net::Backend& backend, std::int64_t bytes, std::size_t first,
               std::size_t last) {
  const std::unique_ptr<net::Stream> copies = backend.make_stream();
  std::vector<std::byte> from(static_cast<std::size_t>(bytes), std::byte{7}), to(from.size());
  std::vector<std::unique_ptr<net::Event>> begun;
  for (std::size_t i = first; i < last; ++i) {
    begun.push_back(backend.make_event());
    link.control().record(*begun.back());
    link.begin(*copies, *begun.back());
    copies->copy(to.data(), from.data(), bytes);
    link.end(*copies, i);
  }
  link.control().synchronize();
  EXPECT_EQ(to, from);
}

TEST(SlowLink, HoldsACopyUntilTheLinkWouldBeDone) {
  const std::unique_ptr<net::Backend> backend = net::make_backend("reference");
  SlowLink link(*backend, 50e6);
  link.add_copy(1 << 20);
  const auto begin = SlowLink::Clock::now();
  copy_over(link, *backend, 1 << 20, 0, 1);
  const std::chrono::duration<double> seconds = SlowLink::Clock::now() - begin;
  EXPECT_GE(seconds.count(), (1 << 20) / 50e6);
}

// A clock that advances during sleeps, and slightly longer.
struct SleepyTime {
  SlowLink::Clock::time_point now{std::chrono::seconds(1)};
  std::chrono::nanoseconds too_long{0};

  SlowLink::Time time() {
    return {[this] { return now; },
            [this](SlowLink::Clock::time_point until) { now = std::max(now, until) + too_long; }};
  }
};

TEST(SlowLink, ManyShortCopiesTakeBytesByRateTogetherAlthoughEverySleepIsTooLong) {
  using std::chrono::microseconds;
  const std::unique_ptr<net::Backend> backend = net::make_backend("reference");
  SleepyTime sleepy{.too_long = microseconds(60)};
  const auto begin = sleepy.now;
  SlowLink link(*backend, 5e6, sleepy.time());  // 500 microseconds each
  for (int i = 0; i < 100; ++i) link.add_copy(2500);
  copy_over(link, *backend, 2500, 0, 100);
  EXPECT_EQ(sleepy.now - begin, microseconds(100 * 500 + 60));
}

TEST(SlowLink, StartsOverAfterAPause) {
  using std::chrono::microseconds;
  const std::unique_ptr<net::Backend> backend = net::make_backend("reference");
  SleepyTime sleepy;
  SlowLink link(*backend, 5e6, sleepy.time());
  for (int i = 0; i < 2; ++i) link.add_copy(2500);
  copy_over(link, *backend, 2500, 0, 1);
  sleepy.now += microseconds(700);
  const auto resumed_at = sleepy.now;
  copy_over(link, *backend, 2500, 1, 2);
  EXPECT_EQ(sleepy.now - resumed_at, microseconds(500));
}

}  // namespace
}  // namespace voxswap::swap
