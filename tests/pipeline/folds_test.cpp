// Tests tables of cross-validation: each fold by itself and all folds together.
#include "pipeline/report/folds.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "tests/expect.h"
#include "tests/pipeline/dice_rows.h"

namespace voxswap::pipeline {
namespace {

// A run on one fold with scores of one region.
RunFolder run_of(const std::string& fold, const std::vector<std::pair<std::string, double>>& dice,
                 const std::string& loss = "weighted_dice") {
  RunFolder run;
  run.name = "fold-" + fold + loss;
  run.settings = {{"data.split.folds", "3", Decides::data},
                  {"data.split.fold", fold, Decides::fold},
                  {"training.loss", loss, Decides::model}};
  for (const auto& [id, value] : dice) run.dice.push_back(score(run.name, "64", id, value, "tumor"));
  return run;
}

Folds folds_among(const std::vector<RunFolder>& runs) {
  std::vector<RunInTable> members;
  for (const RunFolder& run : runs)
    for (RunInTable& member : run.in_tables()) members.push_back(std::move(member));
  return folds_of(runs, group_runs(members));
}

std::vector<std::string> dice_of(const Folds& folds) {
  std::vector<std::string> lines;
  for (const FoldRow& row : folds.rows)
    if (row.metric == "dice") lines.push_back(format("{} {} {:.3f}", row.fold, row.cases, row.mean));
  return lines;
}

TEST(Folds, StandSideBySideAndAllTogetherWithEveryCaseOnce) {
  const Folds folds = folds_among({run_of("0", {{"a", 0.5}, {"b", 0.7}}), run_of("1", {{"c", 0.9}}),
                                   run_of("2", {{"d", 0.1}, {"e", 0.3}})});
  EXPECT_EQ(dice_of(folds), (std::vector<std::string>{"0 2 0.600", "1 1 0.900", "2 2 0.200", "all 5 0.500"}));
  EXPECT_TRUE(folds.notes.empty());
  EXPECT_EQ(csv_of(folds.rows).rows.size(), folds.rows.size());
}

TEST(Folds, ThatAreMissingOrOverlapAreReported) {
  const Folds folds = folds_among({run_of("0", {{"a", 0.5}}), run_of("2", {{"a", 0.7}, {"b", 0.9}})});
  EXPECT_EQ(dice_of(folds).back(), "all 2 0.750");
  ASSERT_EQ(folds.notes.size(), 2u);
  EXPECT_TRUE(test::contains(folds.notes[0], "1 case held out in more than one fold"));
  EXPECT_TRUE(test::contains(folds.notes[1], "fold 1 of 3 missing"));
}

TEST(Folds, OfOneRunOrOfTwoExperimentsAreNone) {
  EXPECT_TRUE(folds_among({run_of("0", {{"a", 0.5}})}).rows.empty());
  EXPECT_TRUE(
      folds_among({run_of("0", {{"a", 0.5}}), run_of("1", {{"b", 0.5}}, "dice_cross_entropy")}).rows.empty());
}

}  // namespace
}  // namespace voxswap::pipeline
