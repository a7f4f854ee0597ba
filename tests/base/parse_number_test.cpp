#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "base/units.h"

namespace voxswap {
namespace {

TEST(ParseNumber, TakesAWholeTextAndNothingElse) {
  EXPECT_EQ(parse_number<int>("42"), 42);
  EXPECT_EQ(parse_number<int>("-7"), -7);
  EXPECT_EQ(parse_number<double>("2.5e-1"), 0.25);
  for (const char* text : {"", " 4", "4 ", "4x", "x", "+4", "4.0", "0x4"})
    EXPECT_FALSE(parse_number<int>(text)) << "'" << text << "'";
  for (const char* text : {"", "1,5", "1.5.2", "--1", "1e"})
    EXPECT_FALSE(parse_number<double>(text)) << "'" << text << "'";
}

TEST(ParseNumber, GivesNothingForWhatDoesNotFit) {
  EXPECT_FALSE(parse_number<std::int8_t>("128"));
  EXPECT_FALSE(parse_number<std::uint64_t>("-1"));
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551615"), 18446744073709551615u);
  EXPECT_FALSE(parse_number<std::uint64_t>("18446744073709551616"));
  EXPECT_FALSE(parse_number<double>("1e999"));
}

TEST(ParseNumber, KnowsWhatIsNoFiniteNumber) {
  EXPECT_TRUE(std::isnan(parse_number<double>("nan").value()));
  EXPECT_TRUE(std::isinf(parse_number<double>("-inf").value()));
}

}  // namespace
}  // namespace voxswap
