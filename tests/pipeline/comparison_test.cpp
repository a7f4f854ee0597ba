// How runs are grouped into repeats and compared.
#include "pipeline/report/comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/text.h"
#include "pipeline/report/read_runs.h"
#include "pipeline/report/tables.h"
#include "tests/pipeline/dice_rows.h"

namespace voxswap::pipeline {
namespace {

RunInTable run(const std::string& name, const std::string& resolution,
               const std::map<std::string, std::string>& keys = {{"training.epochs", "5"}}) {
  return {name, resolution, keys};
}

RunFolder folder_of(const std::string& name, SettingList settings) {
  RunFolder folder;
  folder.name = name;
  folder.settings = std::move(settings);
  EpochRow& row = folder.epochs.emplace_back();
  row.run = name;
  row.resolution = "64";
  return folder;
}

TEST(RunGroups, HoldRunsThatDifferOnlyInWhatMakesNoOtherModel) {
  std::vector<RunInTable> runs;
  for (const std::string name : {"a", "b"}) {
    const RunFolder folder = folder_of(name, {{"name", name, Decides::name},
                                              {"training.seed", name, Decides::chance},
                                              {"output.dir", name, Decides::nothing},
                                              {"data.split.fold", name, Decides::fold},
                                              {"evaluate.at", name, Decides::shown},
                                              {"ran_with.device", name, Decides::nothing},
                                              {"training.epochs", "9", Decides::epochs}});
    for (const RunInTable& one : folder.in_tables()) runs.push_back(one);
  }
  const auto groups = group_runs(runs);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].runs, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(groups[0].setting, "");
}

TEST(RunGroups, TellApartWhatWasTrainedOrScoredOtherwise) {
  for (const Decides decides : {Decides::source, Decides::data, Decides::model, Decides::epochs,
                                Decides::stop, Decides::memory, Decides::scores}) {
    std::vector<RunInTable> runs;
    for (const std::string name : {"a", "b"})
      for (const RunInTable& one : folder_of(name, {{"some.key", name, decides}}).in_tables())
        runs.push_back(one);
    EXPECT_EQ(group_runs(runs).size(), 2u) << static_cast<int>(decides);
  }
}

TEST(RunGroups, OfDifferentResolutionsNeedNoOtherName) {
  const auto groups =
      group_runs({run("fine", "128", {{"preprocess.resolution", "128"}, {"memory.budget", "4GiB"}}),
                  run("coarse", "64", {{"preprocess.resolution", "64"}, {"memory.budget", "1GiB"}})});
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].resolution, "64");  // coarse to fine
  EXPECT_EQ(groups[0].setting, "");       // the budget varies with the resolution
  EXPECT_EQ(groups[0].keys.at("memory.budget"), "1GiB");
}

TEST(RunGroups, AreNamedByTheFewestKeysThatTellThemApart) {
  std::vector<RunInTable> runs;
  for (const char* patch : {"none", "[32, 32, 32]"}) {
    for (const char* planner : {"keep", "hybrid"}) {
      runs.push_back(run(std::string(patch) + planner, "64",
                         {{"training.patch", patch},
                          {"memory.planner", planner},
                          {"memory.budget", planner == std::string("keep") ? "auto" : "1GiB"}}));
    }
  }
  const auto groups = group_runs(runs);
  ASSERT_EQ(groups.size(), 4u);
  EXPECT_EQ(groups[0].setting, "planner keep, patch none");
  EXPECT_EQ(groups[3].setting, "planner hybrid, patch 32");
  EXPECT_EQ(groups[3].distinguishing_keys, (std::vector<std::string>{"memory.planner", "training.patch"}));
}

TEST(RunGroups, NameACubeByOneSide) {
  const auto spacing = [](const char* name, const char* value) {
    return run(name, "64", {{"preprocess.spacing", value}, {"training.patch", "none"}});
  };
  const auto groups = group_runs({spacing("a", "[2.5, 2.5, 2.5]"), spacing("b", "[2, 2, 3]")});
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].setting, "spacing 2.5");
  EXPECT_EQ(groups[1].setting, "spacing [2, 2, 3]");
}

TEST(RunGroups, AreLabelledByTheirRunsUnlessTheseAreNamedByTheirSettings) {
  const auto groups_of = [](std::vector<std::string> names) {
    std::vector<RunInTable> runs;
    for (std::size_t i = 0; i < names.size(); ++i)
      runs.push_back(run(names[i], "64", {{"memory.planner", i % 2 ? "hybrid" : "keep"}}));
    return group_runs(runs);
  };
  EXPECT_EQ(groups_of({"mine", "other"})[0].name, "mine (planner keep)");
  EXPECT_EQ(groups_of({"mine", "other"})[0].label, "mine");
  EXPECT_EQ(groups_of({"planner-keep", "planner-hybrid"})[1].label, "planner hybrid");
  EXPECT_EQ(groups_of({"a", "b", "c", "d"})[1].label, "b and d");
  EXPECT_EQ(groups_of({"a", "b", "a", "c", "d", "e"})[1].label, "b and 2 more runs");
  EXPECT_EQ(groups_of({"a", "a"})[1].label, "a (planner hybrid)");  // labels are unique
}

TEST(RunGroups, OfRunsWithoutAnExperimentAreEachByThemselves) {
  const auto groups = group_runs({run("a", "64", {}), run("b", "64", {})});
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[1].setting, "b");
}

TEST(Boxes, OfAGroupCountACaseOfItsRunsOnce) {
  const auto boxes =
      box_rows({score("a", "64", "x", 0.25), score("b", "64", "x", 0.75), score("b", "64", "y", 1)},
               group_runs({run("a", "64"), run("b", "64")}));
  EXPECT_EQ(boxes[0].statistics.n, 2u);
  EXPECT_EQ(boxes[0].statistics.minimum, 0.5);
}

// One lucky repeat of two does not give a missed region a distance.
TEST(Boxes, HaveNoValueOfACaseThatARepeatHasNoneFor) {
  const auto boxes =
      box_rows({score("a", "64", "x", std::nan("")), score("b", "64", "x", 0.75), score("b", "64", "y", 1)},
               group_runs({run("a", "64"), run("b", "64")}));
  EXPECT_EQ(boxes[0].statistics.n, 1u);
  EXPECT_EQ(boxes[0].statistics.nan, 1u);
}

// Ten differences of 0.01 to 0.10, all positive: W = 0, p = 2 / 2^10.
std::vector<DiceRow> ten_cases(const std::string& region) {
  std::vector<DiceRow> rows;
  for (int i = 1; i <= 10; ++i) {
    const std::string id = format("case_{}", i);
    rows.push_back(score("coarse", "64", id, 0.5, region));
    rows.push_back(score("fine", "128", id, 0.5 + 0.01 * i, region, 1));
  }
  return rows;
}

TEST(Comparison, OfResolutionsIsPairedByCase) {
  const std::vector<RunGroup> groups = group_runs({run("fine", "128"), run("coarse", "64")});
  std::vector<DiceRow> rows = ten_cases("whole");
  rows.push_back(score("fine", "128", "only_there", 0.1));
  rows.push_back(score("fine", "128", "nan_here", 0.1));
  rows.push_back(score("coarse", "64", "nan_here", std::nan("")));
  const auto compared = compare(groups, rows);
  ASSERT_EQ(compared.size(), 1u);
  const ComparisonRow& row = compared[0];
  EXPECT_EQ(row.compared, "preprocess.resolution");
  EXPECT_EQ(row.resolution_a, "64");
  EXPECT_EQ(row.resolution_b, "128");
  EXPECT_EQ(row.differences.size(), 10u);
  EXPECT_EQ(row.unpaired, 2u);
  EXPECT_NEAR(row.difference, 0.055, 1e-12);
  EXPECT_NEAR(row.mean_b - row.mean_a, row.difference, 1e-12);
  EXPECT_EQ(row.test.p, 2 / 1024.0);
  EXPECT_GT(row.interval.low, 0.03);
  EXPECT_LT(row.interval.high, 0.08);
}

TEST(Comparison, TakesMeansOverRepeatsBeforeItPairs) {
  const auto compared = compare(
      group_runs({run("a", "64"), run("b", "128")}),
      {score("a", "64", "x", 0.5), score("b", "128", "x", 0.5, "whole", 1),
       score("b", "128", "x", 1, "whole", 2), score("a", "64", "y", 0.5), score("b", "128", "y", 0.5)});
  ASSERT_EQ(compared.size(), 1u);
  EXPECT_EQ(compared[0].differences, (std::vector<double>{0.25, 0}));
}

TEST(Comparison, OnTrainingGridsIsBetweenGroupsOfOneResolution) {
  std::vector<DiceRow> rows = {score("a", "64", "x", 0.5), score("b", "64", "x", 0.6),
                               score("c", "128", "x", 0.7)};
  for (DiceRow& row : rows) row.evaluated_at = "training";
  const auto compared = compare(
      group_runs({run("a", "64", {{"training.loss", "dice"}}), run("b", "64", {{"training.loss", "focal"}}),
                  run("c", "128", {{"training.loss", "dice"}})}),
      rows);
  ASSERT_EQ(compared.size(), 1u);
  EXPECT_EQ(compared[0].resolution_b, "64");
}

TEST(Comparison, CorrectsForTheRegionsOfOneComparison) {
  std::vector<DiceRow> rows = ten_cases("whole");
  for (const DiceRow& row : ten_cases("core")) rows.push_back(row);
  rows.push_back(score("coarse", "64", "case_1", 0.5, "only_here"));
  const auto compared = compare(group_runs({run("fine", "128"), run("coarse", "64")}), rows);
  ASSERT_EQ(compared.size(), 2u);
  for (const ComparisonRow& row : compared) EXPECT_EQ(row.p_holm, 2 * 2 / 1024.0);
}

TEST(Comparison, OfManyGroupsIsBetweenThoseThatDifferInOneKey) {
  std::vector<RunInTable> runs;
  std::vector<DiceRow> rows;
  for (const char* resolution : {"64", "96", "128"}) {
    for (const char* planner : {"keep", "tflms"}) {
      runs.push_back(run(std::string(resolution) + planner, resolution, {{"memory.planner", planner}}));
      rows.push_back(score(runs.back().run, resolution, "x", 0.5));
    }
  }
  const auto compared = compare(group_runs(runs), rows);
  std::map<std::string, int> count;
  for (const ComparisonRow& row : compared) ++count[row.compared];
  EXPECT_EQ(count, (std::map<std::string, int>{{"preprocess.resolution", 6}, {"memory.planner", 3}}));
  EXPECT_EQ(compared[0].setting_a, "planner keep");
  EXPECT_EQ(compared[0].setting_b, "planner tflms");
}

TEST(Comparison, NamesWhatElseDiffers) {
  const auto compared =
      compare(group_runs({run("a", "64", {{"training.epochs", "5"}, {"memory.budget", "1GiB"}}),
                          run("b", "128", {{"training.epochs", "9"}, {"memory.budget", "2GiB"}})}),
              {score("a", "64", "x", 0.5), score("b", "128", "x", 0.75)});
  ASSERT_EQ(compared.size(), 1u);
  EXPECT_EQ(compared[0].compared, "preprocess.resolution");
  EXPECT_EQ(compared[0].also_differs, "memory.budget+training.epochs");
}

TEST(Comparison, IsWrittenInItsColumns) {
  const auto compared = compare(group_runs({run("a", "64"), run("b", "128")}),
                                {score("a", "64", "x", 0.5), score("b", "128", "x", 0.75),
                                 score("a", "64", "y", 0.25), score("b", "128", "y", 0.75)});
  EXPECT_EQ(
      csv_text(csv_of(compared)),
      "compared,also_differs,resolution_a,setting_a,resolution_b,setting_b,evaluated_at,region,metric,n,"
      "unpaired,mean_a,mean_b,mean_difference,interval_low,interval_high,zeros,rank_sum_positive,"
      "rank_sum_negative,test,p,p_holm\n"
      "preprocess.resolution,,64,,128,,native,whole,dice,2,0,0.375,0.75,0.375,0.25,0.5,0,3,0,exact,0.5,0."
      "5\n");
}

// The name lists all differing keys, not only those needed to tell groups apart.
TEST(RunGroups, AreCalledInFullByTheirRunsAndAllThatDiffers) {
  const std::vector<RunGroup> named = groups_by_loss({"a", "b"});
  EXPECT_EQ(named[0].setting, "loss a");
  EXPECT_EQ(named[0].name, "run_a (loss a, epochs epochs of a)");
  const auto resolutions = group_runs({{"x", "64", {{"training.loss", "a"}}},
                                       {"y", "64", {{"training.loss", "a"}}},
                                       {"z", "96", {{"training.loss", "a"}}}});
  EXPECT_EQ(resolutions[0].name, "x and y (resolution 64)");
  EXPECT_EQ(resolutions[1].name, "z (resolution 96)");
  const auto cells = group_runs({{"resolution-64_loss-a", "64", {{"training.loss", "a"}}},
                                 {"resolution-64_loss-b", "64", {{"training.loss", "b"}}}});
  EXPECT_EQ(cells[1].name, "loss b");  // the cell's folder name would repeat this
}

TEST(Headings, AreWordsWithUnits) {
  EXPECT_EQ(heading_of("epoch_seconds_mean"), "Epoch, s");
  EXPECT_EQ(heading_of("preprocess.resolution"), "Resolution, voxels");
  EXPECT_EQ(heading_of("dice_whole_tumor"), "Dice, whole tumor");
  EXPECT_EQ(heading_of("training.batch_size"), "Batch size");
  EXPECT_EQ(heading_of("a.wait_seconds"), "Wait, s");
  EXPECT_EQ(heading_of("peak_bytes"), "Peak");
}

// Checks boxplot.csv against NumPy and Matplotlib (tests/fixtures/boxplot_table.py makes the tables): one to
// twelve groups with repeats, NaN, ties, single cases and outliers.
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
  const std::string fixtures = VOXSWAP_SOURCE_DIR "/tests/fixtures/";
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
