// Compares the signed-rank test and the bootstrap interval with SciPy (tests/fixtures/paired_differences.py
// makes the table), and tests edge cases.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/csv.h"
#include "base/text.h"
#include "metrics/paired_test.h"

namespace voxswap::metrics {
namespace {

const double not_scored = std::numeric_limits<double>::quiet_NaN();

class PairedDifferences : public testing::Test {
 protected:
  Csv table_ = read_csv(VOXSWAP_SOURCE_DIR "/tests/fixtures/paired_differences.csv");
  double value(const std::vector<std::string>& row, const char* column) const {
    return std::stod(row[table_.column(column, "fixture")]);
  }
  std::vector<double> differences(const std::vector<std::string>& row) const {
    std::vector<double> values;
    for (const std::string& part : split(row[table_.column("values", "fixture")], ' '))
      values.push_back(std::stod(part));
    return values;
  }
};

TEST_F(PairedDifferences, HaveTheSignedRankTestOfScipy) {
  ASSERT_EQ(table_.rows.size(), 15u);
  for (const auto& row : table_.rows) {
    SCOPED_TRACE(row[0]);
    const SignedRankTest test = signed_rank_test(differences(row));
    EXPECT_EQ(test.n, static_cast<std::size_t>(value(row, "n")));
    EXPECT_EQ(test.zeros, static_cast<std::size_t>(value(row, "zeros")));
    EXPECT_EQ(test.exact, value(row, "exact") == 1);
    EXPECT_EQ(test.statistic, value(row, "statistic"));
    EXPECT_NEAR(test.p, value(row, "p"), 1e-11 * value(row, "p"));
    const double n = static_cast<double>(test.n);
    EXPECT_EQ(test.rank_sum_positive + test.rank_sum_negative, n * (n + 1) / 2);
  }
}

TEST_F(PairedDifferences, HaveTheBootstrapIntervalOfScipyUpToItsChance) {
  for (const auto& row : table_.rows) {
    SCOPED_TRACE(row[0]);
    const Interval interval = bootstrap_mean(differences(row));
    const double low = value(row, "low"), high = value(row, "high");
    if (std::isnan(low)) {
      EXPECT_TRUE(std::isnan(interval.low) && std::isnan(interval.high));
      continue;
    }
    EXPECT_NEAR(interval.low, low, 4 * value(row, "low_sd") + 1e-12);
    EXPECT_NEAR(interval.high, high, 4 * value(row, "high_sd") + 1e-12);
  }
}

TEST(SignedRankTest, OfNothingOrOnlyZerosHasNoP) {
  for (const std::vector<double>& values :
       {std::vector<double>{}, std::vector<double>{0, 0}, std::vector<double>{not_scored}}) {
    const SignedRankTest test = signed_rank_test(values);
    EXPECT_EQ(test.n, 0u);
    EXPECT_TRUE(std::isnan(test.p));
  }
}

TEST(SignedRankTest, DoesNotCareWhichSideIsCalledFirst) {
  const SignedRankTest there = signed_rank_test({0.5, -0.25, 0.75, 1}),
                       back = signed_rank_test({-0.5, 0.25, -0.75, -1});
  EXPECT_EQ(there.p, back.p);
  EXPECT_EQ(there.rank_sum_positive, back.rank_sum_negative);
}

TEST(BootstrapInterval, IsTheSameForTheSameSeedAndAnotherForAnother) {
  const std::vector<double> values{0.1, 0.41, -0.23, 0.3, 0.257, 0.05, 0.113, -0.019, 0.77, 0.39};
  BootstrapOptions other;
  other.seed = 2;
  EXPECT_EQ(bootstrap_mean(values).low, bootstrap_mean(values).low);
  EXPECT_NE(bootstrap_mean(values).low, bootstrap_mean(values, other).low);
}

TEST(BootstrapInterval, OfEqualDifferencesIsThatDifference) {
  const Interval interval = bootstrap_mean({0.25, 0.25, not_scored, 0.25});
  EXPECT_EQ(interval.low, 0.25);
  EXPECT_EQ(interval.high, 0.25);
}

// In order: 0.01 x 3, 0.03 x 2, 0.04 x 1, never below the previous value.
TEST(Holm, MultipliesByHowManyAreLeftAndNeverFalls) {
  const std::vector<double> adjusted = holm({0.04, 0.01, not_scored, 0.03});
  EXPECT_DOUBLE_EQ(adjusted[0], 0.06);
  EXPECT_DOUBLE_EQ(adjusted[1], 0.03);
  EXPECT_TRUE(std::isnan(adjusted[2]));
  EXPECT_DOUBLE_EQ(adjusted[3], 0.06);
  EXPECT_EQ(holm({0.7, 0.8})[1], 1);
}

}  // namespace
}  // namespace voxswap::metrics
