// How groups of runs are ordered by their Dice, and how sure the order is.
#include "pipeline/report/ranking.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/text.h"
#include "tests/pipeline/dice_rows.h"

namespace voxswap::pipeline {
namespace {

// Three groups at one resolution: in both regions b is better than a by 0.01 to 0.10.
std::vector<DiceRow> ten_cases_of_three() {
  std::vector<DiceRow> rows;
  for (int i = 1; i <= 10; ++i)
    for (const char* region : {"whole", "core"}) {
      const std::string id = format("case_{}", i);
      rows.push_back(score("run_a", "64", id, 0.5, region));
      rows.push_back(score("run_b", "64", id, 0.5 + 0.01 * i, region));
      rows.push_back(score("run_c", "64", id, 0.5 + 0.01 * i - (i % 2 == 0 ? 0.02 : -0.019), region));
    }
  return rows;
}

TEST(Ranking, PutsTheBestFirstAndSaysByHowMuchAndWhetherThatIsChance) {
  const auto ranking = rank(groups_by_loss({"a", "b", "c"}), ten_cases_of_three());
  ASSERT_EQ(ranking.groups.size(), 3u);
  EXPECT_EQ(ranking.grid, "native");
  EXPECT_EQ(ranking.regions, (std::vector<std::string>{"whole", "core"}));
  EXPECT_EQ(ranking.groups[0].group, 1u);
  EXPECT_NEAR(ranking.groups[0].dice, 0.555, 1e-12);
  EXPECT_EQ(ranking.groups[1].group, 2u);
  EXPECT_NEAR(ranking.groups[1].difference, 0.0005, 1e-12);  // five times 0.02, five times -0.019
  EXPECT_EQ(ranking.tests, 3u);                              // any of three groups could have been the best
  EXPECT_FALSE(is_significant(ranking.groups[1], ranking.tests));
  const RankedGroup& last = ranking.groups[2];
  EXPECT_EQ(last.group, 0u);
  EXPECT_NEAR(last.difference, 0.055, 1e-12);
  EXPECT_EQ(last.test.p, 2 / 1024.0);
  EXPECT_EQ(last.p_holm, 3 * 2 / 1024.0);
  EXPECT_TRUE(is_significant(last, ranking.tests));
}

// With five pairs p is at least 2 / 2^5 = 0.0625.
TEST(Ranking, IsNotSignificantWithTooFewCases) {
  std::vector<DiceRow> rows;
  for (int i = 1; i <= 5; ++i) {
    rows.push_back(score("run_a", "64", format("case_{}", i), 0.5));
    rows.push_back(score("run_b", "64", format("case_{}", i), 0.9));
  }
  const auto ranking = rank(groups_by_loss({"a", "b"}), rows);
  EXPECT_FALSE(is_significant(ranking.groups[1], 1));
}

TEST(Ranking, ComparesOnlyWhatTheGroupsShare) {
  std::vector<DiceRow> rows = ten_cases_of_three();
  rows.push_back(score("run_b", "64", "only_there", 1));
  rows.push_back(score("run_b", "64", "case_1", 1, "only_in_b"));
  rows.push_back(score("run_a", "64", "nan_here", std::nan("")));
  const auto ranking = rank(groups_by_loss({"a", "b", "c"}), rows);
  EXPECT_EQ(ranking.regions.size(), 2u);
  EXPECT_EQ(ranking.groups[2].differences.size(), 10u);
  EXPECT_TRUE(rank(groups_by_loss({"a"}), {}).groups.empty());
}

// b is better on the cases that both have; its other cases are harder.
TEST(Ranking, OrdersGroupsByTheCasesThatAllHave) {
  std::vector<DiceRow> rows;
  for (int i = 1; i <= 6; ++i) {
    if (i <= 2) rows.push_back(score("run_a", "64", format("case_{}", i), 0.8));
    rows.push_back(score("run_b", "64", format("case_{}", i), i <= 2 ? 0.9 : 0.5));
  }
  const auto ranking = rank(groups_by_loss({"a", "b"}), rows);
  EXPECT_EQ(ranking.groups[0].group, 1u);
  EXPECT_NEAR(ranking.groups[0].dice, 0.9, 1e-12);
  EXPECT_EQ(ranking.groups[0].cases, 2u);
  EXPECT_NEAR(ranking.groups[1].difference, 0.1, 1e-12);
  EXPECT_EQ(ranking.unshared_cases, 4u);
}

// Where a region is absent, the rule of nnU-Net gives no Dice to a group that predicts none.
TEST(Ranking, CountsARegionThatOnlyOneGroupWronglyPredicts) {
  std::vector<DiceRow> rows;
  for (int i = 1; i <= 6; ++i) {
    const std::string id = format("case_{}", i);
    const bool absent = i <= 3;
    rows.push_back(score("run_a", "64", id, absent ? std::nan("") : 0.8));
    rows.push_back(score("run_b", "64", id, absent ? 0 : 0.82));
  }
  rows.push_back(score("run_a", "64", "absent_for_both", std::nan("")));
  rows.push_back(score("run_b", "64", "absent_for_both", std::nan("")));
  const auto ranking = rank(groups_by_loss({"a", "b"}), rows);
  EXPECT_EQ(ranking.groups[0].group, 0u);
  EXPECT_EQ(ranking.groups[1].cases, 6u);
  EXPECT_NEAR(ranking.groups[1].difference, (3 * 1 - 3 * 0.02) / 6, 1e-12);
  EXPECT_TRUE(ranking.has_absent_regions);
}

// One of four repeats of a predicts a region that the case lacks.
TEST(Ranking, CountsAnAbsentRegionRepeatByRepeat) {
  std::vector<DiceRow> rows;
  for (const char* run : {"run_a", "run_b"})
    for (int repeat = 1; repeat <= 4; ++repeat) {
      const bool is_spurious = run == std::string("run_a") && repeat == 4;
      rows.push_back(score(run, "64", "absent", is_spurious ? 0 : std::nan(""), "whole", repeat));
      rows.push_back(score(run, "64", "present", 0.5, "whole", repeat));
      rows.back().truth_voxels = 10;
    }
  const auto ranking = rank(groups_by_loss({"a", "b"}), rows);
  EXPECT_EQ(ranking.groups[0].group, 1u);
  EXPECT_NEAR(ranking.groups[1].difference, 0.25 / 2, 1e-12);
}

TEST(Ranking, PrefersTheGridOfTheImages) {
  std::vector<DiceRow> rows = {score("run_a", "64", "x", 0.9), score("run_a", "64", "x", 0.5)};
  rows[0].evaluated_at = "training";
  const auto ranking = rank(groups_by_loss({"a"}), rows);
  EXPECT_EQ(ranking.grid, "native");
  EXPECT_EQ(ranking.groups[0].dice, 0.5);
}

// A coarser training grid has a coarser ground truth.
TEST(Ranking, DoesNotOrderResolutionsByScoresOnTheirTrainingGrids) {
  std::vector<DiceRow> rows = {score("a", "64", "x", 0.9), score("b", "128", "x", 0.8)};
  for (DiceRow& row : rows) row.evaluated_at = "training";
  const auto ranking = rank(group_runs({{"a", "64", {}}, {"b", "128", {}}}), rows);
  EXPECT_TRUE(ranking.groups.empty());
  EXPECT_TRUE(ranking.has_other_truths);
}

// b has no Dice for a region that is there, for example because it was not annotated for that run.
TEST(Ranking, DoesNotCountARegionThatIsThereAndWasNotScored) {
  std::vector<DiceRow> rows;
  for (int i = 1; i <= 6; ++i) {
    const std::string id = format("case_{}", i);
    rows.push_back(score("run_a", "64", id, 0.5, "core"));
    rows.back().truth_voxels = 10;
    rows.push_back(score("run_b", "64", id, std::nan(""), "core"));
    rows.push_back(score("run_a", "64", id, 0.8));
    rows.push_back(score("run_b", "64", id, 0.82));
  }
  const auto ranking = rank(groups_by_loss({"a", "b"}), rows);
  EXPECT_EQ(ranking.regions, (std::vector<std::string>{"whole"}));
  EXPECT_EQ(ranking.groups[0].group, 1u);
  EXPECT_NEAR(ranking.groups[1].difference, 0.02, 1e-12);
}

TEST(Ranking, DoesNotCompareGroupsWithoutACommonCase) {
  const auto ranking = rank(groups_by_loss({"a", "b"}),
                            {score("run_a", "64", "one", 0.8), score("run_b", "64", "another", 0.9)});
  EXPECT_EQ(ranking.groups[0].group, 1u);
  EXPECT_TRUE(ranking.groups[1].differences.empty());
}

// c is 0.0005 behind b, then ahead of it by less than the tolerance, then by more.
TEST(Ranking, PrefersAGroupToAnEnsembleThatIsHardlyBetter) {
  std::vector<DiceRow> rows = ten_cases_of_three();
  EXPECT_EQ(rank(groups_by_loss({"a", "b", "c"}), rows, 1).groups[0].group, 1u);
  const auto better_by = [&](double more) {
    std::vector<DiceRow> changed = rows;
    for (DiceRow& row : changed)
      if (row.run == "run_c") row.dice += more;
    return rank(groups_by_loss({"a", "b", "c"}), changed, 1);
  };
  const auto hardly = better_by(0.0008);
  EXPECT_EQ(hardly.groups[0].group, 1u);
  EXPECT_EQ(hardly.groups[1].group, 2u);
  EXPECT_NEAR(hardly.groups[1].difference, -0.0003, 1e-12);
  EXPECT_EQ(better_by(0.0012).groups[0].group, 2u);
}

}  // namespace
}  // namespace voxswap::pipeline
