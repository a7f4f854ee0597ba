// An imitated link: never faster than it should be, and not slower either.
#include "swap/execute/slow_link.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "net/backends/backends.h"
#include "net/backends/cpu/host_device.h"

namespace voxswap::swap {
namespace {

// Seconds from the begin of the first of `count` copies until the last was held.
double seconds_of_copies(std::int64_t bytes, int count, double rate) {
  const std::unique_ptr<net::Backend> backend = net::make_backend("reference");
  SlowLink link(*backend, rate);
  const std::unique_ptr<net::Stream> copies = backend->make_stream();
  std::vector<std::byte> from(static_cast<std::size_t>(bytes), std::byte{7}), to(from.size());
  std::vector<std::unique_ptr<net::Event>> begun, held;
  for (int i = 0; i < count; ++i) {
    link.add_copy(bytes);
    begun.push_back(backend->make_event());
    held.push_back(backend->make_event());
  }
  for (std::size_t i = 0; i < begun.size(); ++i) {
    link.control().record(*begun[i]);
    link.begin(*copies, *begun[i]);
    copies->copy(to.data(), from.data(), bytes);
    link.end(*copies, i);
    link.control().record(*held[i]);
  }
  link.control().synchronize();
  EXPECT_EQ(to, from);
  return backend->elapsed(*begun.front(), *held.back());
}

TEST(SlowLink, HoldsACopyUntilTheLinkWouldBeDone) {
  EXPECT_GE(seconds_of_copies(1 << 20, 1, 50e6), (1 << 20) / 50e6);
}

TEST(SlowLink, ManyShortCopiesTakeBytesByRateTogetherAlthoughEverySleepIsTooLong) {
  constexpr double expected = 100 * 2500 / 5e6;
  double best = 1e9;  // of a few attempts: other programs may hold the machine
  for (int attempt = 0; attempt < 5; ++attempt) {
    const double seconds = seconds_of_copies(2500, 100, 5e6);
    EXPECT_GE(seconds, 0.999 * expected);
    best = std::min(best, seconds);
  }
  EXPECT_LE(best, 1.12 * expected);
}

}  // namespace
}  // namespace voxswap::swap
