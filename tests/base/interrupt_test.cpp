// Requests to stop, in programs that use the library.
#include "base/interrupt.h"

#include <gtest/gtest.h>

#include <csignal>
#include <optional>

namespace voxswap {
namespace {

void own_handler(int) {}

TEST(InterruptScope, OfSeveralThreadsGivesTheHandlerBackWithTheLastOne) {
  struct sigaction own = {}, before = {}, after = {};
  own.sa_handler = own_handler;
  ::sigaction(SIGINT, &own, &before);
  std::optional<InterruptScope> first, second;  // which end in the order in which they began
  first.emplace();
  second.emplace();
  first.reset();
  EXPECT_FALSE(interrupted());
  ::raise(SIGINT);
  EXPECT_TRUE(interrupted());
  second.reset();
  EXPECT_FALSE(interrupted());
  ::sigaction(SIGINT, &before, &after);
  EXPECT_EQ(after.sa_handler, own_handler);
}

}  // namespace
}  // namespace voxswap
