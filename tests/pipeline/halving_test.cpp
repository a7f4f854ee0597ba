// Successive halving: rungs, decisions and costs, worked out by hand.
#include "pipeline/sweep/halving.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/csv.h"
#include "base/text.h"
#include "pipeline/report/class_tables.h"
#include "pipeline/report/tables.h"
#include "tests/folder.h"

namespace voxswap::pipeline {
namespace {

std::string text_of(const std::vector<Rung>& list) {
  std::vector<std::string> parts;
  for (const Rung& rung : list)
    parts.push_back(format("1/{}: {}>{}", rung.divisor, rung.settings, rung.kept));
  return join(parts, ", ");
}

TEST(Rungs, ReduceTheSettingsToOneWithinTheShareAndTheEpochs) {
  struct {
    Halving halving;
    std::size_t settings;
    std::int64_t epochs;
    const char* expected;
  } const table[] = {
      {{2, 0.1}, 8, 40, "1/8: 8>4, 1/4: 4>2, 1/2: 2>1"},
      {{2, 0.1}, 4, 40, "1/4: 4>2, 1/2: 2>1"},
      {{2, 0.1}, 5, 40, "1/8: 5>3, 1/4: 3>2, 1/2: 2>1"},
      {{2, 0.1}, 2, 40, "1/2: 2>1"},
      {{2, 0.1}, 100, 40, "1/8: 100>50, 1/4: 50>25, 1/2: 25>13"},  // not before a tenth
      {{2, 0}, 16, 40, "1/16: 16>8, 1/8: 8>4, 1/4: 4>2, 1/2: 2>1"},
      {{3, 0.1}, 27, 81, "1/9: 27>9, 1/3: 9>3"},
      {{3, 0.1}, 7, 81, "1/9: 7>3, 1/3: 3>1"},
      {{4, 0.1}, 64, 81, "1/4: 64>16"},
      {{2, 0.1}, 8, 5, "1/4: 8>4, 1/2: 4>2"},  // an eighth of 5 epochs is no epoch
      {{2, 0.5}, 8, 40, "1/2: 8>4"},
      {{3, 0.5}, 8, 40, ""},
      {{2, 0.1}, 8, 1, ""},
      {{2, 0.1}, 1, 40, ""},
  };
  for (const auto& row : table)
    EXPECT_EQ(text_of(rungs(row.halving, row.settings, row.epochs)), row.expected)
        << row.halving.eta << " " << row.settings << " " << row.epochs;
}

TEST(Rungs, RoundEpochsUp) {
  EXPECT_EQ(rung_epoch(40, {8, 0, 0}), 5);
  EXPECT_EQ(rung_epoch(41, {8, 0, 0}), 6);
  EXPECT_EQ(rung_epoch(5, {4, 0, 0}), 2);
  EXPECT_EQ(rung_epoch(5, {2, 0, 0}), 3);
}

// Cells a, b, c, … that have recorded these scores, one for each epoch.
std::vector<CellRecord> cells_with(const std::vector<std::vector<double>>& scores, std::int64_t epochs) {
  std::vector<CellRecord> cells;
  for (std::size_t i = 0; i < scores.size(); ++i)
    cells.push_back({.name = std::string(1, static_cast<char>('a' + i)),
                     .setting = i,
                     .epochs = epochs,
                     .reached = static_cast<std::int64_t>(scores[i].size()),
                     .finished = static_cast<std::int64_t>(scores[i].size()) == epochs,
                     .scores = scores[i]});
  return cells;
}

std::string decisions(const HalvedSweep& halved) {
  std::vector<std::string> parts;
  for (const HalvingRow& row : halved.rows)
    parts.push_back(format("{} {}@{} #{} {}", row.round, row.cell, row.epoch, row.rank, row.decision));
  return join(parts, ", ");
}

// The cells of the next round with the epoch to reach; those that are not there yet have a question mark.
std::string next_round(const HalvedSweep& halved) {
  std::vector<std::string> parts;
  for (const RoundCell& at : halved.cells)
    parts.push_back(format("{}>{}{}", at.cell, at.until, at.settled ? "" : "?"));
  return format("{}/{}: {}", halved.round, halved.rounds, join(parts, " "));
}

const double nan = std::nan("");

TEST(Halving, KeepsTheBestHalfAtEachRung) {
  const std::vector<Rung> two = rungs({}, 4, 4);  // after 1 and 2 epochs
  HalvedSweep halved = halve(cells_with({{}, {}, {}, {}}, 4), two);
  EXPECT_EQ(next_round(halved), "1/3: 0>1? 1>1? 2>1? 3>1?");
  halved = halve(cells_with({{0.3}, {0.5}, {0.4}, {}}, 4), two);
  EXPECT_EQ(next_round(halved), "1/3: 0>1 1>1 2>1 3>1?");
  EXPECT_TRUE(halved.rows.empty());
  halved = halve(cells_with({{0.3}, {0.5}, {0.4}, {0.1}}, 4), two);
  EXPECT_EQ(decisions(halved), "1 a@1 #3 stopped, 1 b@1 #1 kept, 1 c@1 #2 kept, 1 d@1 #4 stopped");
  EXPECT_EQ(next_round(halved), "2/3: 1>2? 2>2?");
  EXPECT_EQ(halved.cells[0].reached, 1);
  EXPECT_EQ(halved.stopped, (std::vector<std::int64_t>{1, 0, 0, 1}));
  halved = halve(cells_with({{0.3}, {0.5, 0.51}, {0.4, 0.6}, {0.1}}, 4), two);
  EXPECT_EQ(next_round(halved), "3/3: 2>0?");
  EXPECT_EQ(halved.stopped, (std::vector<std::int64_t>{1, 2, 0, 1}));
  halved = halve(cells_with({{0.3}, {0.5, 0.51}, {0.4, 0.6, 0.6, 0.7}, {0.1}}, 4), two);
  EXPECT_EQ(next_round(halved), "3/3: 2>0");
}

TEST(Halving, DoesNotLookAtLaterEpochs) {
  const std::vector<Rung> two = rungs({}, 4, 4);
  const HalvedSweep halved =
      halve(cells_with({{0.3, 0.9, 0.9, 0.9}, {0.5, 0.1, 0.1}, {0.4, 0.3}, {0.1}}, 4), two);
  EXPECT_EQ(next_round(halved), "3/3: 2>0?");
  EXPECT_EQ(halved.rows[0].decision, "finished");  // it need not be trained any more, but was not kept
  EXPECT_EQ(halved.stopped, (std::vector<std::int64_t>{0, 2, 0, 1}));
}

TEST(Halving, KeepsTheFirstOfEqualSettings) {
  const std::vector<Rung> one = {{2, 4, 2}};
  EXPECT_EQ(decisions(halve(cells_with({{0.2}, {0.4}, {0.2}, {0.4}}, 2), one)),
            "1 a@1 #3 stopped, 1 b@1 #1 kept, 1 c@1 #4 stopped, 1 d@1 #2 kept");
  EXPECT_EQ(next_round(halve(cells_with({{0.4}, {0.4}, {0.4}, {0.4}}, 2), one)), "2/2: 0>0? 1>0?");
}

TEST(Halving, NeverKeepsASettingThatFailedOrHasNoScore) {
  std::vector<CellRecord> cells = cells_with({{0.3}, {nan}, {}, {0.2}, {0.4}, {0.1}}, 2);
  cells[2].failed = true;
  EXPECT_EQ(decisions(halve(cells, {{2, 6, 5}})),
            "1 a@1 #2 kept, 1 b@1 #5 stopped, 1 c@1 #5 failed, 1 d@1 #3 kept, 1 e@1 #1 kept, 1 f@1 #4 kept");
  // A cell that fails later has the score of its rung.
  cells = cells_with({{0.3, 0.3}, {0.5, 0.5}, {0.1}, {0.1}}, 8);
  cells[1].failed = true;
  const HalvedSweep halved = halve(cells, {{8, 4, 2}, {2, 2, 1}});
  EXPECT_EQ(next_round(halved), "2/3: 0>4? 1>4?");
}

TEST(Halving, RepeatsTheRoundIfAllFailed) {
  std::vector<CellRecord> cells = cells_with({{}, {}}, 2);
  for (CellRecord& cell : cells) cell.failed = true;
  const HalvedSweep halved = halve(cells, {{2, 2, 1}});
  EXPECT_EQ(next_round(halved), "1/2: 0>1? 1>1?");
  EXPECT_TRUE(halved.rows.empty());
}

TEST(Halving, DecidesRepeatsAndFoldsOfASettingTogetherByTheirMean) {
  std::vector<CellRecord> cells = cells_with({{0.9}, {0.1}, {0.4}, {0.7}}, 2);  // means 0.65 and 0.4
  cells[2].setting = cells[1].setting = 1;
  cells[1].scores = {0.4};
  cells[3].setting = 0;
  cells[3].scores = {0.4};
  HalvedSweep halved = halve(cells, {{2, 2, 1}});
  EXPECT_EQ(decisions(halved), "1 a@1 #1 kept, 1 b@1 #2 stopped, 1 c@1 #2 stopped, 1 d@1 #1 kept");
  EXPECT_DOUBLE_EQ(halved.rows[3].setting_score, 0.65);
  EXPECT_DOUBLE_EQ(halved.rows[3].score, 0.4);
  cells[3] = {.name = "d", .setting = 0, .epochs = 2, .failed = true};
  halved = halve(cells, {{2, 2, 1}});
  EXPECT_EQ(decisions(halved), "1 a@1 #2 stopped, 1 b@1 #1 kept, 1 c@1 #1 kept, 1 d@1 #2 failed");
}

TEST(Halving, ComparesCellsAfterTheSameShareOfTheirEpochs) {
  std::vector<CellRecord> cells = cells_with({{0.1, 0.2, 0.3}, {0.25}}, 2);
  cells[0].epochs = 6;
  cells[0].finished = false;
  const HalvedSweep halved = halve(cells, {{2, 2, 1}});
  EXPECT_EQ(decisions(halved), "1 a@3 #1 kept, 1 b@1 #2 stopped");
}

TEST(Halving, ComparesACellThatStoppedEarlyByItself) {
  std::vector<CellRecord> cells = cells_with({{0.1, 0.5}, {0.2, 0.3, 0.3, 0.4}, {0.1, 0.1, 0.1, 0.1}}, 8);
  cells[0].finished = true;
  const HalvedSweep halved = halve(cells, {{2, 3, 1}});
  EXPECT_EQ(next_round(halved), "2/2: 0>0");
}

// Whatever was recorded when, the decisions are those of an undisturbed sweep.
TEST(Halving, IsTheSameInWhateverOrderCellsAreTrained) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> dice(0, 1);
  for (int trial = 0; trial < 50; ++trial) {
    const std::size_t count = 2 + random() % 12;
    std::vector<std::vector<double>> all(count, std::vector<double>(16));
    for (auto& scores : all)
      for (double& score : scores) score = dice(random);
    const std::vector<Rung> list = rungs({}, count, 16);
    const HalvedSweep whole = halve(cells_with(all, 16), list);
    std::vector<std::vector<double>> recorded(count);
    for (;;) {  // some cell that has something to do trains for an epoch
      const HalvedSweep now = halve(cells_with(recorded, 16), list);
      std::vector<std::size_t> busy;
      for (const RoundCell& at : now.cells)
        if (!at.settled) busy.push_back(at.cell);
      if (busy.empty()) {
        EXPECT_EQ(now.round, now.rounds);
        ASSERT_EQ(now.rows.size(), whole.rows.size());
        for (std::size_t i = 0; i < now.rows.size(); ++i) {
          EXPECT_EQ(now.rows[i].cell, whole.rows[i].cell);
          EXPECT_EQ(now.rows[i].rank, whole.rows[i].rank);
          EXPECT_EQ(now.rows[i].decision == "kept", whole.rows[i].decision == "kept");
        }
        break;
      }
      const std::size_t cell = busy[random() % busy.size()];
      recorded[cell].push_back(all[cell][recorded[cell].size()]);
    }
  }
}

TEST(Halving, CostsAtMostWhatTheMostExpensiveSettingsCost) {
  const std::vector<Rung> list = {{4, 4, 2}, {2, 2, 1}};
  const std::vector<double> equal = {1, 2, 4};
  EXPECT_DOUBLE_EQ(most_cost({equal, equal, equal, equal}, list), 4 + 2 + 1 + 1);
  EXPECT_DOUBLE_EQ(most_cost({equal, {10, 20, 40}, equal, {5, 10, 20}}, list), 40 + 10 + 1 + 1);
  EXPECT_DOUBLE_EQ(most_cost({{4}, {3}}, {}), 7);
}

class RecordedRun : public test::InAFolder {
 protected:
  void epoch(std::int64_t repeat, std::int64_t epoch, double loss, const std::vector<double>& dice,
             double averaged_loss = nan, double averaged_dice = nan) {
    EpochRow row;
    row.run = "run";
    row.resolution = "8";
    row.repeat = repeat;
    row.epoch = epoch;
    row.validation_loss = loss;
    row.averaged_validation_loss = averaged_loss;
    epochs_.push_back(row);
    for (std::size_t i = 0; i < dice.size(); ++i)
      validation_.push_back({"run", repeat, "8", epoch, 1, format("region_{}", i), dice[i], averaged_dice});
  }
  RecordedScores scores(std::int64_t repeats = 1) const {
    write_csv(folder_ / "epochs.csv", csv_of(epochs_));
    write_csv(folder_ / "validation.csv", csv_of(validation_));
    return recorded_scores(folder_, repeats);
  }

  std::vector<EpochRow> epochs_;
  std::vector<ValidationRow> validation_;
};

TEST_F(RecordedRun, HasTheScoreOfTheEpochWithTheLowestLossSoFar) {
  epoch(1, 1, 0.9, {0.5, 0.75});
  epoch(1, 2, 0.7, {0.25, 0.75});  // a better loss with a worse Dice
  epoch(1, 3, 0.8, {1, 1});
  epoch(1, 4, 0.7, {0, 0});  // the first among equals
  const RecordedScores found = scores();
  EXPECT_EQ(found.by_epoch, (std::vector<double>{0.625, 0.5, 0.5, 0.5}));
  EXPECT_EQ(found.epochs, 4);
}

TEST_F(RecordedRun, HasTheScoreOfAveragedWeightsOnceThereAreAny) {
  epoch(1, 1, 0.9, {0.5});
  epoch(1, 2, 0.7, {0.625}, 0.8, 0.25);
  epoch(1, 3, 0.6, {0.75}, 0.9, 0.125);
  EXPECT_EQ(scores().by_epoch, (std::vector<double>{0.5, 0.25, 0.25}));
}

TEST_F(RecordedRun, HasTheMeanOfItsRepeatsOfWhichOneMayHaveStoppedEarly) {
  epoch(1, 1, 0.9, {0.5});
  epoch(1, 2, 0.8, {0.75});
  epoch(2, 1, 0.9, {0.25});
  const RecordedScores found = scores(2);
  EXPECT_EQ(found.by_epoch, (std::vector<double>{0.375, 0.5}));
  EXPECT_EQ(found.epochs, 1);
  EXPECT_TRUE(scores(3).by_epoch.empty());
}

TEST_F(RecordedRun, HasTheAccuracyOfAClassifier) {
  epoch(1, 1, 0.9, {});
  epoch(1, 2, 0.8, {});
  write_csv(folder_ / "accuracy.csv",
            csv_of(std::vector<AccuracyRow>{{"run", 1, "8", 1, 1, 0.5}, {"run", 1, "8", 2, 2, 0.75}}));
  EXPECT_EQ(scores().by_epoch, (std::vector<double>{0.5, 0.75}));
}

TEST_F(RecordedRun, HasNoScoresBeforeItsFirstEpoch) {
  EXPECT_TRUE(recorded_scores(folder_, 1).by_epoch.empty());
  EXPECT_EQ(recorded_scores(folder_, 1).epochs, 0);
}

}  // namespace
}  // namespace voxswap::pipeline
