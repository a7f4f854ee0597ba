// The program on several ranks, started by mpirun: the bytes of one that runs by itself, and how all end when
// one does.
#include "tests/cli/ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace voxswap::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t times(const std::string& words, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(words, at)) != text.npos; ++at) ++count;
  return count;
}

// The label maps that are predicted in the end, which ranks share out, lie in the folder as those of one do.
TEST_F(RanksOfMpi, TrainToTheBytesOfOneByItselfAndLetTheFirstAlonePrint) {
  const Outcome alone = program(run_into("alone"));
  ASSERT_EQ(alone.code, 0) << alone.output;
  for (const int ranks : {2, 3, 4}) {
    const std::string out = "on_" + std::to_string(ranks);
    const Outcome outcome = on(ranks, run_into(out));
    ASSERT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_EQ(results(out), results("alone")) << ranks << " ranks";
    EXPECT_FALSE(fs::exists(folder_ / out / ".lock"));
    EXPECT_EQ(times("\nDice ", outcome.output), 1u) << outcome.output;
    EXPECT_EQ(times("epoch 3/3  train", outcome.output), 1u) << outcome.output;
    EXPECT_THAT(outcome.output, Not(HasSubstr("rank 0 predicts alone")));
  }
}

TEST_F(RanksOfMpi, AverageWeightsAndLeaveFrozenPartsToTheBytesOfOne) {
  const Words more = {"training.averaging.name=ema", "training.averaging.decay=0.5",
                      "training.freeze=[encoder]"};
  const Outcome alone = program(run_into("alone", more));
  ASSERT_EQ(alone.code, 0) << alone.output;
  EXPECT_TRUE(fs::exists(folder_ / "alone/checkpoints/averaged.safetensors"));
  const Outcome outcome = on(2, run_into("on_2", more));
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_EQ(results("on_2"), results("alone"));
}

TEST_F(RanksOfMpi, RefuseWhatTheyCannotShareAndNameTheNearestBatch) {
  const Outcome batch = on(2, run_into("out", {"training.batch_size=13"}));
  EXPECT_NE(batch.code, 0);
  EXPECT_THAT(batch.output, HasSubstr("13 samples cannot be divided equally among 2 ranks. The nearest "
                                      "possible: 12 and 14"));
  EXPECT_THAT(batch.output, Not(HasSubstr("rank 1: ")));
  EXPECT_FALSE(fs::exists(folder_ / "out" / "experiment.yaml"));
  const Outcome command = on(2, {"check", (folder_ / "data").string()});
  EXPECT_NE(command.code, 0);
  EXPECT_THAT(command.output, HasSubstr("Start voxswap check without mpirun"));
}

// By SIGKILL to one of them all end; by SIGUSR1, as by the other signals, all stop at the same step.
TEST_F(RanksOfMpi, AllEndWhenOneIsKilledOrInterruptedAndAnotherNumberGoesOn) {
  const Words more = {"training.epochs=40", "training.checkpoint_minutes=0.0001"};
  ASSERT_EQ(program(run_into("whole", more)).code, 0);
  const auto strike = [&](pid_t launcher, int number, const std::function<bool()>& it_is_time) {
    while (waitpid(launcher, nullptr, WNOHANG) == 0 && !it_is_time())
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const std::vector<pid_t> ranks = ranks_here();
    EXPECT_FALSE(ranks.empty()) << read_file(log_);
    if (!ranks.empty()) kill(ranks.back(), number);
    const Outcome outcome = finish(launcher, {.log = log_});
    EXPECT_THAT(ranks_here(), testing::IsEmpty());
    return outcome;
  };
  const Outcome killed = strike(begin_on(3, run_into("struck", more)), SIGKILL,
                                [&] { return fs::exists(folder_ / "struck/checkpoints/last.safetensors"); });
  EXPECT_NE(killed.code, 0) << killed.output;

  Words resumed = run_into("struck", more);
  resumed.push_back("--resume");
  const Outcome stopped = strike(begin_on(2, resumed), SIGUSR1, [&] {
    return read_file(log_).find("resuming repeat 1") != std::string::npos;
  });
  EXPECT_EQ(stopped.code, 130) << stopped.output;
  EXPECT_THAT(stopped.output, HasSubstr("the same command with --resume continues a run"));

  const Outcome finished = program(resumed);
  ASSERT_EQ(finished.code, 0) << finished.output;
  EXPECT_EQ(results("struck"), results("whole"));
}

TEST_F(RanksOfMpi, ListThemselves) {
  const Outcome outcome = on(2, {"info", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const Json info = Json::parse(outcome.output.substr(outcome.output.find('{')));
  ASSERT_EQ(info["ranks"].size(), 2u);
  for (int rank = 0; rank < 2; ++rank) {
    const Json& one = info["ranks"][static_cast<std::size_t>(rank)];
    EXPECT_EQ(one["rank"], rank);
    EXPECT_EQ(one["machine"], info["ranks"][0]["machine"]);
    EXPECT_THAT(one["device"].get<std::string>(), HasSubstr("oneDNN"));
    EXPECT_GT(one["memory_bytes"].get<std::int64_t>(), 0);
    EXPECT_EQ(one.contains("link_gbps"), rank > 0);
    if (rank > 0) {
      EXPECT_GT(one["link_gbps"].get<double>(), 0);
    }
  }
  EXPECT_FALSE(Json::parse(program({"info", "--json"}).output).contains("ranks"));
}

class SweepOnRanks : public RanksOfMpi {
 protected:
  Words sweep_into(const std::string& out, const std::string& seeds = "1,2,3") {
    return {"sweep",
            (folder_ / "experiment.yaml").string(),
            "--out",
            (folder_ / out).string(),
            "data.cache=" + cache_.string(),
            "training.seed=" + seeds};
  }
  std::string merged(const std::string& out) {
    return read_file(folder_ / out / "dice.csv") + read_file(folder_ / out / "sweep.csv");
  }
};

TEST_F(SweepOnRanks, RunsACellOnEachToTheResultsOfOneAfterTheOther) {
  const Outcome alone = program(sweep_into("alone"));
  ASSERT_EQ(alone.code, 0) << alone.output;
  const Outcome outcome = on(2, sweep_into("shared"));
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_EQ(merged("shared"), merged("alone"));
  for (const char* cell : {"seed-1", "seed-2", "seed-3"})
    EXPECT_THAT(read_file(folder_ / "shared" / cell / "log.txt"), Not(HasSubstr("ranks"))) << cell;
}

TEST_F(SweepOnRanks, GoesOnAfterOneOfThemWasInterruptedOrKilled) {
  ASSERT_EQ(program(sweep_into("alone", "1,2")).code, 0);
  for (const int number : {SIGTERM, SIGKILL}) {
    Words words = sweep_into("cut", "1,2");
    const pid_t launcher = begin_on(2, words);
    while (waitpid(launcher, nullptr, WNOHANG) == 0 && !fs::exists(folder_ / "cut/seed-2/experiment.yaml"))
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::vector<pid_t> ranks = ranks_here();
    std::erase_if(ranks, [](pid_t one) {
      return read_file(format("/proc/{}/cmdline", one)).find("cell.yaml") != std::string::npos;
    });
    if (!ranks.empty()) kill(ranks.back(), number);
    const Outcome outcome = finish(launcher, {.log = log_});
    if (outcome.code == 0) break;  // it had ended before
  }
  while (!ranks_here().empty())
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // cells stop at a checkpoint
  const Outcome outcome = on(2, sweep_into("cut", "1,2"));
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_EQ(merged("cut"), merged("alone"));
}

TEST_F(SweepOnRanks, RefusesAnotherNumberOfJobs) {
  Words words = sweep_into("out");
  words.insert(words.end(), {"--jobs", "3"});
  const Outcome outcome = on(2, words);
  EXPECT_NE(outcome.code, 0);
  EXPECT_THAT(outcome.output, HasSubstr("launched with 2 ranks, each of which runs one cell at a time"));
}

}  // namespace
}  // namespace voxswap::cli
