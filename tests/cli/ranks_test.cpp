// The program on several ranks, started by mpirun: output identical to that of a single process, and how all
// ranks end when one does.
#include "tests/cli/ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <functional>

#include "base/text.h"
#include "tests/environment.h"
#include "tests/expect.h"

namespace voxswap::cli {
namespace {

std::size_t times(const std::string& words, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(words, at)) != text.npos; ++at) ++count;
  return count;
}

// The final predictions, which ranks divide among themselves, are in the same folder as those of one process.
TEST_F(RanksOfMpi, TrainToTheBytesOfOneByItselfAndLetTheFirstAlonePrint) {
  const Outcome alone = done(into("alone"));
  for (const int ranks : {2, 3, 4}) {
    const std::string out = "on_" + std::to_string(ranks);
    const Outcome outcome = succeeded(on(ranks, into(out)));
    EXPECT_EQ(results(out), results("alone")) << ranks << " ranks";
    EXPECT_FALSE(fs::exists(folder_ / out / ".lock"));
    EXPECT_EQ(times("\nDice ", outcome.output), 1u) << outcome.output;
    EXPECT_EQ(times("epoch 3/3  train", outcome.output), 1u) << outcome.output;
    EXPECT_FALSE(contains(outcome.output, "rank 0 predicts alone"));
  }
}

// Groups of ranks that share volumes, and a run resumed with other groups.
TEST_F(RanksOfMpi, ShareVolumesToTheBytesOfOneByItself) {
  const Outcome alone = done(into("alone"));
  for (const auto& [ranks, slabs] : {std::pair(2, "auto"), std::pair(3, "3"), std::pair(4, "2")}) {
    const std::string out = format("on_{}_in_{}", ranks, slabs);
    succeeded(on(ranks, into(out, {format("ranks.slabs={}", slabs)})));
    EXPECT_EQ(results(out), results("alone")) << out;
  }
  const Words longer = {"training.epochs=5"};
  done(into("whole", longer));
  succeeded(on(2, into("resumed", {"ranks.slabs=2"})));
  const Outcome resumed = succeeded(on(4, into("resumed", longer + Words{"ranks.slabs=4", "--resume"})));
  EXPECT_EQ(results("resumed"), results("whole"));
}

TEST_F(RanksOfMpi, RefuseToShareVolumesInGroupsOfAnotherSize) {
  failed(on(3, into("out", {"ranks.slabs=2"})), 2, {"3 ranks cannot be divided into groups of 2"});
  EXPECT_FALSE(fs::exists(folder_ / "out" / "experiment.yaml"));
  done(into("out", {"ranks.slabs=2"}));  // a single process has the whole volume
}

TEST_F(RanksOfMpi, AverageWeightsAndLeaveFrozenPartsToTheBytesOfOne) {
  const Words more = {"training.averaging.name=ema", "training.averaging.decay=0.5",
                      "training.freeze=[encoder]"};
  const Outcome alone = done(into("alone", more));
  EXPECT_TRUE(fs::exists(folder_ / "alone/checkpoints/averaged.safetensors"));
  succeeded(on(2, into("on_2", more)));
  EXPECT_EQ(results("on_2"), results("alone"));
}

TEST_F(RanksOfMpi, RefuseWhatTheyCannotShareAndNameTheNearestBatch) {
  const Outcome batch = on(2, into("out", {"training.batch_size=13"}));
  EXPECT_NE(batch.code, 0);
  EXPECT_TRUE(contains(batch.output,
                       "13 samples cannot be divided equally among 2 ranks. The nearest "
                       "possible: 12 and 14"));
  EXPECT_FALSE(contains(batch.output, "rank 1: "));
  EXPECT_FALSE(contains(batch.output, "was lost"));
  EXPECT_FALSE(fs::exists(folder_ / "out" / "experiment.yaml"));
  const Outcome command = on(2, {"check", path("data")});
  EXPECT_NE(command.code, 0);
  EXPECT_TRUE(contains(command.output, "Start voxswap check without mpirun"));
}

TEST_F(RanksOfMpi, EndBeforeTheFirstStageOfGrowthIfTheFinestGridDoesNotFit) {
  const Words more = {"training.growth={2: 1}", "memory.budget=100KiB", "memory.slabs=none",
                      "memory.planner=keep"};
  failed(on(2, into("large", more)), 4, {"memory.budget"});
  EXPECT_FALSE(fs::exists(folder_ / "large/growth"));
}

// Also for settings that a resumed run may change, and before anything is done.
TEST_F(RanksOfMpi, RefuseCommandLinesAndFilesThatDiffer) {
  const auto both = [&](const Words& first, const Words& second) {
    return finish(
        start(Words{"-n", "1", VOXSWAP_PROGRAM} + first + Words{":", "-n", "1", VOXSWAP_PROGRAM} + second,
              {.log = log_}, VOXSWAP_MPIEXEC),
        {.log = log_});
  };
  const Words plain = into("differ");
  for (const Words& more :
       {Words{"training.epochs=4"}, {"data.cache=elsewhere"}, {"--resume"}, {"--dry-run"}}) {
    const Outcome outcome = both(plain, plain + more);
    EXPECT_EQ(outcome.code, 2) << more[0] << outcome.output;
    EXPECT_TRUE(contains(outcome.output, "command line", more[0]));
  }
  EXPECT_FALSE(fs::exists(folder_ / "differ"));
  // The same command line, but different files under that name, as on machines with separate folders.
  fs::create_directories(folder_ / "elsewhere");
  write("elsewhere/experiment.yaml", bytes("experiment.yaml") + "memory: {host: 64MiB}\n");
  const auto in = [&](const fs::path& where) {
    return Words{"-wdir",
                 where.string(),
                 "-n",
                 "1",
                 VOXSWAP_PROGRAM,
                 "run",
                 "experiment.yaml",
                 "--dry-run",
                 "data.root=" + path("data"),
                 "data.cache=none",
                 "output.dir=" + path("differ")};
  };
  failed(finish(start(in(folder_) + Words{":"} + in(folder_ / "elsewhere"), {.log = log_}, VOXSWAP_MPIEXEC),
                {.log = log_}),
         2, {"experiment file", "64"});
}

// SIGKILL to one rank ends all; SIGUSR1, like other signals, stops all at the same step.
TEST_F(RanksOfMpi, AllEndWhenOneIsKilledOrInterruptedAndAnotherNumberGoesOn) {
  const Words more = {"training.epochs=40", "training.checkpoint_minutes=0.0001"};
  done(into("whole", more));
  const auto strike = [&](pid_t launcher, int number, const std::function<bool()>& it_is_time) {
    while (waitpid(launcher, nullptr, WNOHANG) == 0 && !it_is_time())
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const std::vector<pid_t> ranks = ranks_here();
    EXPECT_FALSE(ranks.empty()) << read_file(log_);
    if (!ranks.empty()) kill(ranks.back(), number);
    const Outcome outcome = finish(launcher, {.log = log_});
    while (!ranks_here().empty())  // they may outlive the launcher for a moment
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return outcome;
  };
  const Outcome killed = strike(begin_on(3, into("struck", more)), SIGKILL,
                                [&] { return fs::exists(folder_ / "struck/checkpoints/last.safetensors"); });
  EXPECT_NE(killed.code, 0) << killed.output;
  EXPECT_THAT(killed.output,
              testing::ContainsRegex("error: rank [0-2] on .* was lost .*it ended without a message"));
  EXPECT_EQ(times("was lost", killed.output), 1u) << killed.output;

  const Words resumed = into("struck", more + Words{"--resume"});
  const Outcome stopped = strike(begin_on(2, resumed), SIGUSR1, [&] {
    return read_file(log_).find("resuming repeat 1") != std::string::npos;
  });
  EXPECT_EQ(stopped.code, 130) << stopped.output;
  EXPECT_FALSE(contains(stopped.output, "was lost"));
  EXPECT_TRUE(contains(stopped.output, "the same command with --resume continues a run"));

  done(resumed);
  EXPECT_EQ(results("struck"), results("whole"));
}

TEST_F(RanksOfMpi, ListThemselves) {
  const Outcome outcome = succeeded(on(2, {"info", "--json"}));
  const Json info = Json::parse(outcome.output.substr(outcome.output.find('{')));
  ASSERT_EQ(info["ranks"].size(), 2u);
  for (int rank = 0; rank < 2; ++rank) {
    const Json& one = info["ranks"][static_cast<std::size_t>(rank)];
    EXPECT_EQ(one["rank"], rank);
    EXPECT_EQ(one["machine"], info["ranks"][0]["machine"]);
    EXPECT_TRUE(contains(one["device"].get<std::string>(), "oneDNN"));
    EXPECT_GT(one["memory_bytes"].get<std::int64_t>(), 0);
    EXPECT_EQ(one.contains("link_gbps"), rank > 0);
    if (rank > 0) {
      EXPECT_GT(one["link_gbps"].get<double>(), 0);
    }
  }
  EXPECT_FALSE(Json::parse(program({"info", "--json"}).output).contains("ranks"));
}

TEST_F(RanksOfMpi, MeasureTheirStepsAndOnlyTheFirstReports) {
  const Words bench = {"bench",
                       path("experiment.yaml"),
                       "--steps",
                       "1",
                       "--quiet",
                       "--json",
                       "--out",
                       path("figures"),
                       "--force",
                       "training.batch_size=2",
                       "preprocess.resolution=32"};
  const auto measured = [&](const Outcome& outcome) {
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_EQ(times("step_seconds_median", outcome.output), 1u) << outcome.output;
    return Json::parse(read_file(folder_ / "figures/bench.json"));
  };
  const Json one = measured(program(bench)), samples = measured(on(2, bench)),
             slabs = measured(on(2, bench + Words{"ranks.slabs=2"}));
  for (const Json& two : {samples, slabs}) {
    EXPECT_LT(two.at("arena_bytes"), one.at("arena_bytes"));
    EXPECT_GT(two.at("step_seconds_median"), 0.0);
  }
  failed(on(2, bench + Words{"training.batch_size=3"}), 2);
  failed(on(2, bench + Words{"--epoch"}), 2, {"--epoch measures a single rank"});
}

// As with a host's launcher whose MPI does not match that of a container.
TEST_F(RanksOfMpi, EndWhenTheyDoNotFindOneAnother) {
  test::Environment environment("OMPI_COMM_WORLD_RANK", "0");
  environment.set("OMPI_COMM_WORLD_SIZE", "2");
  refused(1, into("out"), "launched with 2 ranks, but MPI joins 1");
}

class SweepOnRanks : public RanksOfMpi {
 protected:
  Words sweep_into(const std::string& out, const std::string& seeds = "1,2,3") {
    return into(out, {"training.seed=" + seeds}, "sweep");
  }
  std::string merged(const std::string& out) {
    return read_file(folder_ / out / "dice.csv") + read_file(folder_ / out / "sweep.csv");
  }
};

TEST_F(SweepOnRanks, RunsACellOnEachToTheResultsOfOneAfterTheOther) {
  const Outcome alone = done(sweep_into("alone"));
  succeeded(on(2, sweep_into("shared")));
  EXPECT_EQ(merged("shared"), merged("alone"));
  for (const char* cell : {"seed-1", "seed-2", "seed-3"})
    EXPECT_FALSE(contains(read_file(folder_ / "shared" / cell / "log.txt"), "ranks")) << cell;
}

TEST_F(SweepOnRanks, GoesOnAfterOneOfThemWasInterruptedOrKilled) {
  done(sweep_into("alone", "1,2"));
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
    if (outcome.code == 0) break;  // it had already ended
  }
  while (!ranks_here().empty())
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // cells stop at a checkpoint
  succeeded(on(2, sweep_into("cut", "1,2")));
  EXPECT_EQ(merged("cut"), merged("alone"));
}

TEST_F(SweepOnRanks, StopsTheLosersThatOneProcessStops) {
  const Words halving = {"sweep.stop=halving", "training.optimizer.learning_rate=1e-5,1e-2,1e-3,1e-4",
                         "training.epochs=4", "data.cache=" + cache_.string()};
  const auto sweep = [&](const std::string& out) {
    return Words{"sweep", path("experiment.yaml"), "--out", path(out)} + halving;
  };
  done(sweep("alone"));
  const Outcome shared = succeeded(on(2, sweep("shared")));
  EXPECT_TRUE(contains(shared.output, "round 3 of 3: 1 cell to the end"));
  EXPECT_EQ(merged("shared"), merged("alone"));
  EXPECT_EQ(bytes("shared/halving.csv"), bytes("alone/halving.csv"));
}

TEST_F(SweepOnRanks, RefusesAnotherNumberOfJobs) {
  const Outcome outcome = on(2, sweep_into("out") + Words{"--jobs", "3"});
  EXPECT_NE(outcome.code, 0);
  EXPECT_TRUE(contains(outcome.output, "launched with 2 ranks, each of which runs one cell at a time"));
}

}  // namespace
}  // namespace voxswap::cli
