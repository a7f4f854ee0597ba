// Compares box statistics with NumPy and Matplotlib (tests/fixtures/box_statistics.py makes the table), and
// tests edge cases.
#include "metrics/box_statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/csv.h"
#include "base/text.h"

namespace voxswap::metrics {
namespace {

const double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> numbers(const std::string& text) {
  std::vector<double> values;
  for (const std::string& part : split(text, ' ')) {
    if (!part.empty()) values.push_back(std::stod(part));
  }
  return values;
}

class BoxStatisticsFixture : public testing::Test {
 protected:
  Csv table_ = read_csv(VOXSWAP_SOURCE_DIR "/tests/fixtures/box_statistics.csv");
  double value(const std::vector<std::string>& row, const char* column) const {
    return std::stod(row[table_.column(column, "fixture")]);
  }
  std::vector<double> list(const std::vector<std::string>& row, const char* column) const {
    return numbers(row[table_.column(column, "fixture")]);
  }
};

TEST_F(BoxStatisticsFixture, AgreesWithNumPyAndMatplotlib) {
  ASSERT_EQ(table_.rows.size(), 11u);
  for (const auto& row : table_.rows) {
    SCOPED_TRACE(row[0]);
    const BoxStatistics box = box_statistics(list(row, "values"));
    EXPECT_EQ(box.n, static_cast<std::size_t>(value(row, "n")));
    EXPECT_EQ(box.nan, static_cast<std::size_t>(value(row, "nan")));
    EXPECT_NEAR(box.mean, value(row, "mean"), 1e-12 * std::abs(box.mean));
    EXPECT_NEAR(box.sd, value(row, "sd"), 1e-12 * (1 + box.sd));
    EXPECT_DOUBLE_EQ(box.minimum, value(row, "minimum"));
    EXPECT_DOUBLE_EQ(box.q1, value(row, "q1"));
    EXPECT_DOUBLE_EQ(box.median, value(row, "median"));
    EXPECT_DOUBLE_EQ(box.q3, value(row, "q3"));
    EXPECT_DOUBLE_EQ(box.maximum, value(row, "maximum"));
    EXPECT_DOUBLE_EQ(box.whisker_low, value(row, "whisker_low"));
    EXPECT_DOUBLE_EQ(box.whisker_high, value(row, "whisker_high"));
    EXPECT_EQ(box.outliers, list(row, "outliers"));
  }
}

TEST_F(BoxStatisticsFixture, QuantileAgreesWithNumPy) {
  for (const auto& row : table_.rows) {
    SCOPED_TRACE(row[0]);
    EXPECT_DOUBLE_EQ(quantile(list(row, "values"), 0.05), value(row, "q05"));
    EXPECT_DOUBLE_EQ(quantile(list(row, "values"), 0.95), value(row, "q95"));
  }
}

TEST(BoxStatistics, OfNothingAreNotNumbers) {
  for (const std::vector<double>& values : {std::vector<double>{}, std::vector<double>{nan, nan}}) {
    const BoxStatistics box = box_statistics(values);
    EXPECT_EQ(box.n, 0u);
    EXPECT_EQ(box.nan, values.size());
    for (double field : {box.mean, box.sd, box.minimum, box.q1, box.median, box.q3, box.maximum,
                         box.whisker_low, box.whisker_high, quantile(values, 0.5)}) {
      EXPECT_TRUE(std::isnan(field));
    }
    EXPECT_TRUE(box.outliers.empty());
  }
}

TEST(BoxStatistics, OfASingleValueHaveNoDeviation) {
  const BoxStatistics box = box_statistics({0.7});
  EXPECT_EQ(box.sd, 0);
  for (double field :
       {box.mean, box.minimum, box.q1, box.median, box.q3, box.maximum, box.whisker_low, box.whisker_high}) {
    EXPECT_EQ(field, 0.7);
  }
}

TEST(BoxStatistics, DoNotDependOnTheOrderOfTheValues) {
  const BoxStatistics a = box_statistics({5, 1, 4, 2, 3, 99}), b = box_statistics({99, 1, 2, 3, 4, 5});
  EXPECT_EQ(a.q1, b.q1);
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.outliers, (std::vector<double>{99}));
  EXPECT_EQ(a.outliers, b.outliers);
}

}  // namespace
}  // namespace voxswap::metrics
