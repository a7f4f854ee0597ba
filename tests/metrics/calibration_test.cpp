// Compares calibration with scikit-learn (tests/fixtures/calibration.py).
#include "metrics/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "base/csv.h"

namespace voxswap::metrics {
namespace {

Calibration made_up(std::uint64_t count, std::uint64_t multiplier, double sharpness, double bias) {
  Calibration calibration;
  for (std::uint64_t i = 1; i <= count; ++i) {
    const std::uint64_t number = i * multiplier % 100003, chance = number * 7919 % 100003;
    const double p = std::pow((static_cast<double>(number) + 0.5) / 100003, sharpness);
    calibration.add(p, (static_cast<double>(chance) + 0.5) / 100003 < p * bias);
  }
  return calibration;
}

TEST(Calibration, IsScikitLearns) {
  const Csv csv = read_csv(VOXSWAP_SOURCE_DIR "/tests/fixtures/calibration.csv");
  ASSERT_EQ(csv.rows.size(), 5u);
  for (const auto& row : csv.rows) {
    const Calibration found =
        made_up(std::stoull(row[0]), std::stoull(row[1]), std::stod(row[2]), std::stod(row[3]));
    EXPECT_EQ(found.voxels(), std::stoll(row[0]));
    EXPECT_NEAR(found.expected_error(), std::stod(row[4]), 1e-12);
    EXPECT_NEAR(found.maximum_error(), std::stod(row[5]), 1e-12);
    EXPECT_NEAR(found.brier(), std::stod(row[6]), 1e-12);
    EXPECT_NEAR(found.log_loss(), std::stod(row[7]), 1e-12);
  }
}

TEST(Calibration, OfWhatIsCertainAndRightIsPerfect) {
  Calibration calibration;
  calibration.add(1, true);
  calibration.add(0, false);
  EXPECT_EQ(calibration.expected_error(), 0);
  EXPECT_EQ(calibration.maximum_error(), 0);
  EXPECT_EQ(calibration.brier(), 0);
  EXPECT_EQ(calibration.log_loss(), 0);
}

TEST(Calibration, OfTwoTogetherIsThatOfTheirVoxels) {
  Calibration together = made_up(300, 31337, 1, 1), all = together;
  const Calibration other = made_up(200, 7351, 2, 1);
  together.add(other);
  EXPECT_EQ(together.voxels(), 500);
  EXPECT_NEAR(together.brier(), (300 * all.brier() + 200 * other.brier()) / 500, 1e-15);
  EXPECT_TRUE(std::isnan(Calibration().expected_error()));
}

}  // namespace
}  // namespace voxswap::metrics
