// Tests the bins of reliability diagrams: their sums over cases and repeats, and the drawn points.
#include "pipeline/report/reliability.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/pipeline/svg_shapes.h"

namespace voxswap::pipeline {
namespace {

metrics::Calibration calibration_of(const std::vector<std::pair<double, bool>>& voxels) {
  metrics::Calibration calibration;
  for (const auto& [probability, belongs] : voxels) calibration.add(probability, belongs);
  return calibration;
}

TEST(Reliability, OfCasesIsThatOfAllTheirVoxels) {
  const std::vector<std::pair<double, bool>> a = {{0.02, false}, {0.03, true}, {0.97, true}},
                                             b = {{0.05, false}, {0.5, true}};
  std::vector<std::pair<double, bool>> both = a;
  both.insert(both.end(), b.begin(), b.end());
  const ReliabilityRow like{{.run = "r", .resolution = "64"}, "core"};
  std::vector<ReliabilityRow> rows = reliability_rows(like, calibration_of(a));
  for (ReliabilityRow& row : reliability_rows(like, calibration_of(b))) rows.push_back(row);
  const std::vector<ReliabilityRow> sums = summed(rows), all = reliability_rows(like, calibration_of(both));
  ASSERT_EQ(sums.size(), 15u);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    EXPECT_EQ(sums[i].bin, static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ(sums[i].voxels, all[i].voxels);
    EXPECT_EQ(sums[i].belonging, all[i].belonging);
    EXPECT_EQ(std::isnan(sums[i].probability), all[i].voxels == 0);
    if (all[i].voxels > 0) {
      EXPECT_NEAR(sums[i].probability, all[i].probability, 1e-15);
    }
  }
  EXPECT_EQ(sums[0].voxels, 3);
  EXPECT_EQ(sums[0].belonging, 1);
  EXPECT_NEAR(sums[0].probability, 0.1 / 3, 1e-15);
}

TEST(ReliabilityPlot, HasAPanelForEveryOutputAndAPointForEveryBinWithVoxels) {
  std::vector<ReliabilityRow> rows;
  for (const char* resolution : {"64", "96"})
    for (const char* output : {"tumor_core", "edema"})
      for (ReliabilityRow& row : reliability_rows({{.run = resolution, .resolution = resolution}, output},
                                                  calibration_of({{0.1, false}, {0.5, true}, {0.9, true}})))
        rows.push_back(row);
  const std::string svg = reliability_plot(rows, group_runs({{"64", "64", {}}, {"96", "96", {}}})).svg;
  EXPECT_EQ(test::points_of(svg, 7), 3u * 4u);
  EXPECT_NE(svg.find("tumor core"), std::string::npos);
  EXPECT_EQ(test::collisions(svg), std::vector<std::string>());
  EXPECT_TRUE(reliability_plot({}, {}).svg.empty());
}

}  // namespace
}  // namespace voxswap::pipeline
