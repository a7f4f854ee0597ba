// Which group is best, by how much, and beyond what doubt.
#include <gtest/gtest.h>

#include <cmath>

#include "base/text.h"
#include "pipeline/report/comparison.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {
namespace {

DiceRow score(const std::string& run, const std::string& id, const std::string& region, double dice) {
  DiceRow row;
  row.run = run;
  row.resolution = "64";
  row.evaluated_at = "native";
  row.case_id = id;
  row.region = region;
  row.dice = dice;
  return row;
}

std::vector<RunGroup> groups(const std::vector<std::string>& losses) {
  std::vector<RunInTable> runs;
  for (const std::string& loss : losses)
    runs.push_back(
        {"run_" + loss, "64", {{"training.loss", loss}, {"training.epochs", "epochs of " + loss}}});
  return group_runs(runs);
}

// Ten cases, two regions: b is better by 0.01 to 0.10 in each, so W = 0 and p = 2 / 2^10.
std::vector<DiceRow> ten_cases() {
  std::vector<DiceRow> rows;
  for (int i = 1; i <= 10; ++i) {
    for (const char* region : {"whole", "core"}) {
      rows.push_back(score("run_a", format("case_{}", i), region, 0.5));
      rows.push_back(score("run_b", format("case_{}", i), region, 0.5 + 0.01 * i));
      rows.push_back(
          score("run_c", format("case_{}", i), region, 0.5 + 0.01 * i - (i % 2 == 0 ? 0.02 : -0.019)));
    }
  }
  return rows;
}

TEST(Ranking, PutsTheBestFirstAndSaysByHowMuchAndWhetherThatIsChance) {
  const auto ranking = rank(groups({"a", "b", "c"}), ten_cases());
  ASSERT_EQ(ranking.groups.size(), 3u);
  EXPECT_EQ(ranking.grid, "native");
  EXPECT_EQ(ranking.regions, (std::vector<std::string>{"whole", "core"}));
  EXPECT_EQ(ranking.groups[0].group, 1u);
  EXPECT_NEAR(ranking.groups[0].dice, 0.555, 1e-12);
  EXPECT_EQ(ranking.groups[1].group, 2u);
  EXPECT_NEAR(ranking.groups[1].difference, 0.0005, 1e-12);  // five times 0.02, five times -0.019
  EXPECT_EQ(worse_than_best(ranking.groups[1], 2), "not shown");
  const RankedGroup& last = ranking.groups[2];
  EXPECT_EQ(last.group, 0u);
  EXPECT_NEAR(last.difference, 0.055, 1e-12);
  EXPECT_EQ(last.test.p, 2 / 1024.0);
  EXPECT_EQ(last.p_holm, 2 * 2 / 1024.0);  // of two comparisons
  EXPECT_EQ(worse_than_best(last, 2), "yes");
}

// With five pairs p is at least 2 / 2^5 = 0.0625, whatever they are.
TEST(Ranking, SaysWhereTheCasesAreTooFew) {
  std::vector<DiceRow> rows;
  for (int i = 1; i <= 5; ++i) {
    rows.push_back(score("run_a", format("case_{}", i), "whole", 0.5));
    rows.push_back(score("run_b", format("case_{}", i), "whole", 0.9));
  }
  const auto ranking = rank(groups({"a", "b"}), rows);
  EXPECT_EQ(worse_than_best(ranking.groups[1], 1), "too few cases to tell");
}

TEST(Ranking, ComparesOnlyWhatTheGroupsShare) {
  std::vector<DiceRow> rows = ten_cases();
  rows.push_back(score("run_b", "only_there", "whole", 1));
  rows.push_back(score("run_b", "case_1", "only_in_b", 1));
  rows.push_back(score("run_a", "nan_here", "whole", std::nan("")));
  const auto ranking = rank(groups({"a", "b", "c"}), rows);
  EXPECT_EQ(ranking.regions.size(), 2u);
  EXPECT_EQ(ranking.groups[2].differences.size(), 10u);
  EXPECT_TRUE(rank(groups({"a"}), {}).groups.empty());
}

// Not only by the key that is enough to tell them apart.
TEST(RunGroups, AreCalledInFullByTheirRunsAndAllThatDiffers) {
  const std::vector<RunGroup> named = groups({"a", "b"});
  EXPECT_EQ(named[0].setting, "loss a");
  EXPECT_EQ(named[0].name, "run_a (loss a, epochs epochs of a)");
  const auto resolutions = group_runs({{"x", "64", {{"training.loss", "a"}}},
                                       {"y", "64", {{"training.loss", "a"}}},
                                       {"z", "96", {{"training.loss", "a"}}}});
  EXPECT_EQ(resolutions[0].name, "x and y (resolution 64)");
  EXPECT_EQ(resolutions[1].name, "z (resolution 96)");
  const auto cells = group_runs({{"resolution-64_loss-a", "64", {{"training.loss", "a"}}},
                                 {"resolution-64_loss-b", "64", {{"training.loss", "b"}}}});
  EXPECT_EQ(cells[1].name, "loss b");  // the cell's own name says the same
}

TEST(Headings, AreWordsWithUnits) {
  EXPECT_EQ(heading_of("epoch_seconds_mean"), "Epoch, s");
  EXPECT_EQ(heading_of("preprocess.resolution"), "Resolution, voxels");
  EXPECT_EQ(heading_of("dice_whole_tumor"), "Dice, whole tumor");
  EXPECT_EQ(heading_of("training.batch_size"), "Batch size");
  EXPECT_EQ(heading_of("a.wait_seconds"), "Wait, s");
  EXPECT_EQ(heading_of("peak_bytes"), "Peak");
}

}  // namespace
}  // namespace voxswap::pipeline
