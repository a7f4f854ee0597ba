// boxplot.csv against NumPy and Matplotlib (tests/fixtures/boxplot_table.py makes the tables): one to twelve
// groups with repeats, NaN, ties, lone cases and outliers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/text.h"
#include "pipeline/report/comparison.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {
namespace {

const std::string fixtures = VOXSWAP_SOURCE_DIR "/tests/fixtures/";

using Group = std::tuple<std::string, std::string, std::string>;  // resolution, grid, region

// The rows of the first `count` groups, in the order of the file.
std::vector<DiceRow> rows_of_groups(const std::vector<DiceRow>& all, std::size_t count) {
  std::vector<Group> groups;
  std::vector<DiceRow> rows;
  for (const DiceRow& row : all) {
    const Group group{row.resolution, row.evaluated_at, row.region};
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
    if (std::find(groups.begin(), groups.end(), group) < groups.begin() + static_cast<std::ptrdiff_t>(count))
      rows.push_back(row);
  }
  return rows;
}

std::vector<double> numbers(const std::string& text, char separator) {
  std::vector<double> values;
  for (const std::string& part : split(text, separator)) {
    if (!part.empty()) values.push_back(std::stod(part));
  }
  return values;
}

void expect_same_numbers(const std::string& ours, const std::string& theirs) {
  const std::vector<double> a = numbers(ours, ';'), b = numbers(theirs, ';');
  ASSERT_EQ(a.size(), b.size()) << ours << " against " << theirs;
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-12 * std::max(1.0, std::fabs(b[i])));
}

TEST(BoxplotTable, IsThatOfNumPyAndMatplotlibForOneToTwelveGroups) {
  const std::vector<DiceRow> all = rows_in<DiceRow>(fixtures + "boxplot_table_dice.csv");
  const Csv expected = read_csv(fixtures + "boxplot_table.csv");
  ASSERT_EQ(expected.rows.size(), 12u * 4u);
  for (std::size_t groups = 1; groups <= 12; ++groups) {
    const Csv table = csv_of(box_rows(rows_of_groups(all, groups)));
    EXPECT_EQ(table.header, expected.header);
    ASSERT_EQ(table.rows.size(), groups * 4);
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      SCOPED_TRACE(format("{} groups, row {}", groups, r + 1));
      for (std::size_t c = 0; c < table.header.size(); ++c) {
        if (c < 4) {
          EXPECT_EQ(table.rows[r][c], expected.rows[r][c]);
        } else {
          expect_same_numbers(table.rows[r][c], expected.rows[r][c]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace voxswap::pipeline
