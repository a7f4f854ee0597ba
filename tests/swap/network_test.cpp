// What exchanges between ranks take, by the model.
#include <gtest/gtest.h>

#include <cmath>

#include "swap/model/costs.h"

namespace voxswap::swap {
namespace {

constexpr std::int64_t chunk = 4 << 20;  // that many ranks exchange at a time

TEST(Network, HasNothingToExchangeForOneRank) {
  EXPECT_EQ(exchange_seconds(chunk, {.ranks = 1}), 0);
}

// Each halving and its way back: half of the row, a quarter, and so on down to the rank's own stretch.
TEST(Network, CarriesARowLessOneStretchThereAndBack) {
  for (const int ranks : {64, 256}) {
    const Network network = {.ranks = ranks, .local_rate = 1e9, .message_seconds = 1e-5};
    const double expected =
        2 * (std::log2(ranks) * 1e-5 + (1 - 1.0 / ranks) * static_cast<double>(chunk) / 1e9);
    EXPECT_NEAR(exchange_seconds(chunk, network), expected, 1e-9) << ranks;
    EXPECT_NEAR(exchange_seconds(10 * chunk, network), 10 * expected, 1e-8) << ranks;
  }
}

// Eight ranks of a machine share its way out, and each has an eighth of the row to send.
TEST(Network, CarriesTheRowOfAMachineThereAndBackWhateverTheirNumber) {
  for (const int machines : {8, 32}) {
    const Network network = {.ranks = 8 * machines, .machines = machines, .rate = 1e9, .local_rate = 1e12};
    EXPECT_NEAR(exchange_seconds(chunk, network),
                2 * static_cast<double>(chunk) * ((1 - 1.0 / machines) / 1e9 + (7.0 / 8) / 1e12), 1e-9)
        << machines;
  }
}

TEST(Network, TakesAsManyMessagesThereAndBackAsTheTreeHasLevels) {
  const double infinite = std::numeric_limits<double>::infinity();
  const auto messages = [&](int ranks) {
    return exchange_seconds(64, {.ranks = ranks, .local_rate = infinite, .message_seconds = 1});
  };
  EXPECT_EQ(messages(2), 2);
  EXPECT_EQ(messages(3), 4);
  EXPECT_EQ(messages(16), 8);
  EXPECT_EQ(messages(1024), 20);
}

}  // namespace
}  // namespace voxswap::swap
