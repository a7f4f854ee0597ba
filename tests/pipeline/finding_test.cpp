// Tests the sentence that states the main result of a sweep: its numbers against a Student interval, and its
// words.
#include "pipeline/report/finding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "base/text.h"
#include "tests/pipeline/dice_rows.h"

namespace voxswap::pipeline {
namespace {

class Finding : public testing::Test {
 protected:
  void add_run(const std::string& name, const std::string& resolution, double epoch_seconds,
               std::map<std::string, std::string> keys = {{"training.loss", "dice"}}) {
    members_.push_back({name, resolution, std::move(keys)});
    TimingRow row;
    row.run = name;
    row.resolution = resolution;
    row.epoch_seconds_mean = epoch_seconds;
    timing_.push_back(row);
  }
  // Scores of `region` for each case.
  void add_scores(const std::string& run, const std::string& resolution, const std::string& region,
                  const std::vector<double>& scores) {
    for (std::size_t i = 0; i < scores.size(); ++i)
      dice_.push_back(score(run, resolution, format("case_{}", i), scores[i], region));
  }
  std::string words(const std::string& grid = "native") {
    for (DiceRow& row : dice_) row.evaluated_at = grid;
    const std::vector<RunGroup> groups = group_runs(members_);
    return finding(groups, compare(groups, dice_), timing_, grid);
  }

 private:
  std::vector<RunInTable> members_;
  std::vector<TimingRow> timing_;
  std::vector<DiceRow> dice_;
};

// Scores around `mean`, symmetric, so that bootstrap and Student intervals agree.
std::vector<double> scores_around(double mean, double spread, int n) {
  std::vector<double> scores;
  for (int i = 0; i < n; ++i) scores.push_back(mean + spread * (2.0 * (i * 7 % n) / (n - 1) - 1));
  return scores;
}

TEST_F(Finding, OfAResolutionHasTheDifferenceWithItsIntervalAndTheRatioOfEpochTimes) {
  constexpr int n = 40;
  add_run("coarse", "64", 2);
  add_run("fine", "128", 5.8);
  add_scores("coarse", "64", "whole_tumor", std::vector<double>(n, 0.8));
  add_scores("fine", "128", "whole_tumor", scores_around(0.805, 0.2, n));
  add_scores("coarse", "64", "enhancing_tumor", std::vector<double>(n, 0.6));
  const std::vector<double> fine = scores_around(0.641, 0.05, n);
  add_scores("fine", "128", "enhancing_tumor", fine);
  double squares = 0;
  for (const double score : fine) squares += std::pow(score - 0.641, 2);
  const double half = 2.0227 * std::sqrt(squares / (n - 1) / n);  // 97.5 % quantile of t with 39 degrees

  const std::string found = words();
  const std::regex form(
      "Doubling the resolution from 64 to 128 voxels per side raises Dice of enhancing tumor most, by "
      "([\\d.]+) \\(95 % interval ([\\d.]+) to ([\\d.]+), n = 40\\); an epoch takes 2\\.9 times as long\\.");
  std::smatch match;
  ASSERT_TRUE(std::regex_match(found, match, form)) << found;
  EXPECT_NEAR(std::stod(match[1]), 0.041, 1e-9);
  EXPECT_NEAR(std::stod(match[2]), 0.041 - half, 1.1e-3);
  EXPECT_NEAR(std::stod(match[3]), 0.041 + half, 1.1e-3);
}

TEST_F(Finding, ComparesTheCoarsestWithTheFinestOfSeveralResolutions) {
  for (const char* resolution : {"48", "24", "32"}) {
    add_run(resolution, resolution, std::stod(resolution));
    add_scores(resolution, resolution, "whole", std::vector<double>(20, std::stod(resolution) / 100));
  }
  EXPECT_EQ(words(),
            "Doubling the resolution from 24 to 48 voxels per side raises Dice of whole by 0.240 (95 % "
            "interval 0.240 to 0.240, n = 20); an epoch takes 2.0 times as long.");
}

TEST_F(Finding, OfAFallHasPositiveNumbers) {
  add_run("a", "16x24x16", 1);
  add_run("b", "24x36x24", 4);
  add_scores("a", "16x24x16", "left", std::vector<double>(20, 0.75));
  add_scores("b", "24x36x24", "left", std::vector<double>(20, 0.5));
  EXPECT_EQ(words(),
            "Increasing the resolution from 16x24x16 to 24x36x24 voxels lowers Dice of left by 0.250 (95 % "
            "interval 0.250 to 0.250, n = 20); an epoch takes 4.0 times as long.");
}

// The least p of four differences is 1/8.
TEST_F(Finding, WithoutSignificanceSaysSoWithTheNumberOfCases) {
  add_run("a", "64", 1);
  add_run("b", "128", 3);
  add_scores("a", "64", "whole", {0.5, 0.5, 0.5, 0.5});
  add_scores("b", "128", "whole", {0.6, 0.6, 0.6, 0.6});
  EXPECT_EQ(
      words(),
      "Doubling the resolution from 64 to 128 voxels per side does not change Dice significantly (whole "
      "+0.100, 95 % interval +0.100 to +0.100, n = 4); an epoch takes 3.0 times as long.");
}

TEST_F(Finding, OfEqualScoresSaysSo) {
  add_run("a", "64", 1, {{"training.loss", "dice"}});
  add_run("b", "64", 2, {{"training.loss", "cross_entropy"}});
  for (const char* run : {"a", "b"}) add_scores(run, "64", "whole", {0.5, 0.625});
  EXPECT_EQ(words(),
            "Changing the loss from dice to cross_entropy does not change the Dice of any compared case (n = "
            "2); an "
            "epoch takes 2.0 times as long.");
}

TEST_F(Finding, OfTwoSettingsNamesTheKeyThatDiffers) {
  add_run("a", "64", 1, {{"training.loss", "dice"}});
  add_run("b", "64", 1, {{"training.loss", "cross_entropy"}});
  add_scores("a", "64", "whole", std::vector<double>(20, 0.5));
  add_scores("b", "64", "whole", std::vector<double>(20, 0.625));
  EXPECT_EQ(words(),
            "Changing the loss from dice to cross_entropy raises Dice of whole by 0.125 (95 % interval 0.125 "
            "to 0.125, n = 20); an epoch takes 1.0 times as long.");
}

TEST_F(Finding, NamesWhatElseDiffersAndTheGrid) {
  add_run("a", "12", 1, {{"training.epochs", "2"}, {"training.loss", "dice"}});
  add_run("b", "16", 2, {{"training.epochs", "60"}, {"training.loss", "dice"}});
  add_scores("a", "12", "whole", std::vector<double>(20, 0.5));
  add_scores("b", "16", "whole", std::vector<double>(20, 0.625));
  const std::string start =
      "Increasing the resolution from 12 to 16 voxels per side raises Dice of whole by 0.125 (95 % interval "
      "0.125 to 0.125, n = 20)";
  EXPECT_EQ(words(), start + "; also different: epochs (2 and 60); an epoch takes 2.0 times as long.");
  EXPECT_EQ(words("24"), start +
                             ", on a grid of 24; also different: epochs (2 and 60); an epoch takes 2.0 "
                             "times as long.");
  EXPECT_EQ(words("training"), "");
}

TEST_F(Finding, OfOneGroupOrOfThreeSettingsIsEmpty) {
  add_run("a", "64", 1, {{"training.loss", "dice"}});
  add_scores("a", "64", "whole", {0.5, 0.6});
  EXPECT_EQ(words(), "");
  for (const char* loss : {"cross_entropy", "focal"}) {
    add_run(loss, "64", 1, {{"training.loss", loss}});
    add_scores(loss, "64", "whole", {0.5, 0.6});
  }
  EXPECT_EQ(words(), "");
}

}  // namespace
}  // namespace voxswap::pipeline
