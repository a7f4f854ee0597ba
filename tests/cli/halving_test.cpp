// Runs that pause and sweeps that stop cells early, as real processes: killed, in parts, with failing cells.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/cli/tiny_sweeps.h"

namespace voxswap::cli {
namespace {

class HalvingCommand : public TinySweeps {
 protected:
  HalvingCommand() : TinySweeps(4) {}

  // Four settings: decisions after epochs 1 and 2.
  const Words rates_ = {"training.optimizer.learning_rate=1e-5,1e-2,1e-3,1e-4"},
              halving_ = {"sweep.stop=halving"};

  Words sweep_into(const std::string& out, const Words& more) const {
    return into(out, rates_ + more, "sweep");
  }
  Outcome halve(const std::string& out, const Words& more = {}) const {
    return program(sweep_into(out, halving_ + more));
  }

  Words cells(const std::string& out, const std::string& decision) const {
    const Csv csv = read_csv(folder_ / out / "halving.csv");
    Words found;
    for (const auto& row : csv.rows)
      if (row[csv.column("decision", "halving.csv")] == decision)
        found.push_back(row[csv.column("round", "")] + " " + row[csv.column("cell", "")]);
    return found;
  }

  // The only cell that was trained to its end.
  std::string winner(const std::string& out) const {
    const Words names = column(out + "/sweep.csv", "cell");
    EXPECT_EQ(std::count(names.begin(), names.end(), names.at(0)), std::ssize(names));
    return names.at(0);
  }

  // Everything that a sweep writes without times.
  std::string results(const std::string& out) const {
    std::string text;
    for (const char* file : {"sweep.csv", "halving.csv", "dice.csv", "boxplot.csv", "split.csv"})
      text += bytes(out + "/" + file);
    for (const char* name : {"run", "epoch", "train_loss", "validation_loss", "learning_rate"})
      text += join(column(out + "/epochs.csv", name), " ");
    const std::string best = out + "/" + winner(out);
    return text + tensors(best, "last") + tensors(best, "best");
  }
};

TEST_F(HalvingCommand, ARunPausesAndContinuesToTheSameBytes) {
  done(into("whole", {"training.repeats=2"}));
  const Outcome paused = done(into("cut", {"training.repeats=2", "--until", "2"}));
  EXPECT_TRUE(contains(paused.output, "paused after epoch 2", "checkpoints"));
  EXPECT_EQ(column("cut/epochs.csv", "epoch"), (Words{"1", "2", "1", "2"}));
  EXPECT_FALSE(fs::exists(folder_ / "cut/dice.csv"));
  EXPECT_FALSE(fs::exists(folder_ / "cut/timing.csv"));
  done(into("cut", {"training.repeats=2", "--until", "1", "--resume"}));  // it is there already
  EXPECT_EQ(column("cut/epochs.csv", "epoch"), (Words{"1", "2", "1", "2"}));
  done(into("cut", {"training.repeats=2", "--until", "3", "--resume"}));
  EXPECT_EQ(column("cut/epochs.csv", "epoch"), (Words{"1", "2", "3", "1", "2", "3"}));
  done(into("cut", {"training.repeats=2", "--resume"}));
  EXPECT_EQ(bytes("cut/dice.csv"), bytes("whole/dice.csv"));
  for (const char* name : {"repeat", "epoch", "train_loss", "validation_loss", "learning_rate"})
    EXPECT_EQ(column("cut/epochs.csv", name), column("whole/epochs.csv", name)) << name;
  for (const char* checkpoint : {"repeat_1/last", "repeat_1/best", "repeat_2/last", "repeat_2/best"})
    EXPECT_EQ(tensors("cut", checkpoint), tensors("whole", checkpoint)) << checkpoint;
}

TEST_F(HalvingCommand, StopsLosersAndTrainsTheWinnerToTheBytesOfTheWholeSweep) {
  done(sweep_into("whole", {}));
  const Outcome outcome = succeeded(halve("half"));
  EXPECT_TRUE(contains(outcome.output, "round 1 of 3: 4 cells to epoch 1",
                       "2 of 4 cells continue; the best is", "round 3 of 3: 1 cell to the end"));
  const std::string best = winner("half");
  EXPECT_EQ(cells("half", "kept").size(), 3u);
  EXPECT_EQ(cells("half", "stopped").size(), 3u);
  EXPECT_EQ(column("half/epochs.csv", "epoch").size(), 4u + 2 + 1 + 1);
  for (const char* table : {"dice.csv", "predictions"})
    EXPECT_TRUE(fs::exists(folder_ / "half" / best / table)) << table;
  EXPECT_EQ(bytes("half/" + best + "/dice.csv"), bytes("whole/" + best + "/dice.csv"));
  for (const char* checkpoint : {"last", "best"})
    EXPECT_EQ(tensors("half/" + best, checkpoint), tensors("whole/" + best, checkpoint));
  EXPECT_TRUE(files("half/" + best + "/predictions", "") == files("whole/" + best + "/predictions", ""));
  EXPECT_TRUE(contains(bytes("half/report.html"),
                       "3 of 4 runs were stopped early by successive halving and are not compared",
                       "stopped at epoch 1 (halving)", "stopped at epoch 2 (halving)"));
  const std::string stopped = cells("half", "stopped").at(0).substr(2);
  EXPECT_TRUE(contains(bytes("half/" + stopped + "/outcome.json"), "stopped at epoch 1 (halving)"));
  // The folder can be reported and predicted with; stopped cells are left out.
  EXPECT_TRUE(contains(done({"report", path("half"), "--out", path("again")}).output, "not compared"));
  done({"predict", path("half"), "--input", path("data"), "--out", path("maps")});
  // Without stopping, the same folder becomes the whole sweep.
  done(sweep_into("half", {}));
  EXPECT_EQ(bytes("half/dice.csv"), bytes("whole/dice.csv"));
  EXPECT_EQ(bytes("half/sweep.csv"), bytes("whole/sweep.csv"));
  EXPECT_FALSE(fs::exists(folder_ / "half/halving.csv"));
  EXPECT_FALSE(contains(bytes("half/report.html"), "(halving)"));
}

TEST_F(HalvingCommand, EndsWithTheSameBytesHoweverOftenItIsKilled) {
  succeeded(halve("whole"));
  std::mt19937 random(11);
  int kills = 0;
  for (; kills < 40; ++kills) {
    const pid_t child = start(sweep_into("cut", halving_), {.log = log_});
    std::this_thread::sleep_for(
        std::chrono::milliseconds(std::uniform_int_distribution<int>(100, 400 + 100 * kills)(random)));
    kill(child, kills % 2 == 0 ? SIGKILL : SIGINT);
    const Outcome outcome = finish(child, {.log = log_});
    if (outcome.code == 0) break;
    ASSERT_TRUE(outcome.code == 128 + SIGKILL || outcome.code == 130) << outcome.code << outcome.output;
  }
  EXPECT_GE(kills, 2);
  succeeded(halve("cut"));
  EXPECT_EQ(results("cut"), results("whole"));
}

TEST_F(HalvingCommand, RunsInPartsRoundByRoundToTheResultsOfTheWhole) {
  succeeded(halve("whole"));
  const Outcome first = succeeded(halve("parts", {"--part", "1/2"}));
  EXPECT_TRUE(
      contains(first.output, "round 1 of 3 is not complete: 2 cells of other parts did not reach epoch 1"));
  EXPECT_FALSE(fs::exists(folder_ / "parts/report.html"));
  // As the elements of one array for each round.
  for (int round = 1; round <= 3; ++round) {
    std::vector<pid_t> parts;
    for (const char* part : {"1/2", "2/2"})
      parts.push_back(start(sweep_into("parts", halving_ + Words{"--part", part}),
                            {.log = folder_ / (std::string("part") + part[0])}));
    for (const pid_t part : parts)
      EXPECT_EQ(finish(part, {.log = log_}).code, 0) << bytes("part1") << bytes("part2");
  }
  EXPECT_EQ(results("parts"), results("whole"));
}

TEST_F(HalvingCommand, DecidesRepeatsTogetherAndSeveralAtOnce) {
  const Words repeats = {"training.optimizer.learning_rate=1e-2,1e-3", "training.seed=1,3",
                         "training.repeats=2"};
  const Outcome outcome = succeeded(halve("s", repeats + Words{"--jobs", "2"}));
  EXPECT_TRUE(contains(outcome.output, "round 1 of 2: 4 cells", "2 of 4 cells continue"));
  const Words names = column("s/sweep.csv", "cell");
  EXPECT_NE(names.front(), names.back());
  EXPECT_EQ(names.front().substr(0, names.front().find("_seed")),
            names.back().substr(0, names.back().find("_seed")));
  succeeded(halve("t", repeats));
  for (const char* file : {"sweep.csv", "halving.csv", "dice.csv"})
    EXPECT_EQ(bytes(std::string("s/") + file), bytes(std::string("t/") + file)) << file;
}

TEST_F(HalvingCommand, LeavesOutACellThatFails) {
  const Words budgets = {"training.optimizer.learning_rate=1e-2,1e-3", "memory.budget=8KiB,64MiB"};
  const Outcome outcome = halve("s", budgets);
  EXPECT_EQ(outcome.code, 4) << outcome.output;
  EXPECT_EQ(cells("s", "failed").size(), 2u);
  EXPECT_TRUE(contains(winner("s"), "budget-64MiB"));
  EXPECT_TRUE(contains(bytes("s/report.html"), "Missing: "));
  // Repeating the command changes nothing.
  const std::string before = results("s");
  EXPECT_EQ(halve("s", budgets).code, 4);
  EXPECT_EQ(results("s"), before);
}

TEST_F(HalvingCommand, SaysWhatItSavesAndWhatItCannotDo) {
  const Outcome dry = succeeded(halve("dry", {"--dry-run"}));
  EXPECT_TRUE(contains(
      dry.output, "round 1: 4 settings to 1/4 of the epochs, 2 of them continue\nround 2: 2 settings to 1/2",
      "round 3: 1 setting to the end\nat most 8 of 16 epochs are trained (50 %)"));
  const Json json = Json::parse(succeeded(halve("dry", {"--dry-run", "--json", "--quiet"})).output);
  EXPECT_EQ(json[0].at("rungs"), Json::parse("[1, 2]"));
  EXPECT_FALSE(fs::exists(folder_ / "dry"));
}

}  // namespace
}  // namespace voxswap::cli
