// Compares every metric with NumPy and SciPy on 200 random pairs of label maps with anisotropic spacing
// (tests/fixtures/label_map_scores.py makes the table).
#include "tests/metrics/random_label_maps.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/csv.h"
#include "base/text.h"
#include "metrics/metrics.h"

namespace voxswap::metrics {
namespace {

const std::vector<int> label_2 = {2}, all = {1, 2, 3};

TEST(RandomLabelMaps, ScoreAsNumPyAndSciPySayToOneInAMillion) {
  const Csv table = read_csv(VOXSWAP_SOURCE_DIR "/tests/fixtures/label_map_scores.csv");
  ASSERT_EQ(table.rows.size(), 400u);
  const std::vector<std::string> names = metric_names();
  int merged = 0;  // cases whose lesion-wise Dice differs from their Dice
  for (const auto& row : table.rows) {
    const auto value = [&](const std::string& column) {
      return std::stod(row[table.column(column, "fixture")]);
    };
    SCOPED_TRACE(format("seed {}, region {}", row[0], row[1]));
    const RandomLabelMaps maps(std::stoull(row[0]));
    const MetricOptions options{
        EmptyRule::brats, value("tolerance"), {std::llround(value("dilation")), value("volume")}};
    const std::vector<std::vector<int>> regions = {row[1] == "all" ? all : label_2};
    const RegionScores scores =
        score_regions(maps.truth, maps.prediction, maps.size, maps.spacing, regions, names, options).at(0);
    EXPECT_EQ(static_cast<double>(scores.overlap.truth), value("truth_voxels"));
    EXPECT_EQ(static_cast<double>(scores.overlap.prediction), value("predicted_voxels"));
    for (std::size_t i = 0; i < names.size(); ++i)
      EXPECT_NEAR(scores.values[i], value(names[i]), 1e-6) << names[i];
    merged += std::abs(value("dice") - value("lesion_wise_dice")) > 1e-3;
  }
  EXPECT_GT(merged, 80);
}

TEST(RandomLabelMaps, ScoreTheSameOneRegionAtATimeAndAllAtOnce) {
  const std::vector<std::string> names = metric_names();
  const std::vector<std::vector<int>> regions = {all, label_2, {1}};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const RandomLabelMaps maps(seed);
    const auto score = [&](std::span<const std::vector<int>> some) {
      return score_regions(maps.truth, maps.prediction, maps.size, maps.spacing, some, names, {});
    };
    const std::vector<RegionScores> together = score(regions);
    for (std::size_t i = 0; i < regions.size(); ++i)
      EXPECT_EQ(score({&regions[i], 1}).at(0).values, together[i].values);
  }
}

}  // namespace
}  // namespace voxswap::metrics
