// The program on several ranks, started by mpirun: the bytes of one that runs by itself, and how all end when
// one does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class RanksOfMpi : public ProgramInAFolder {
 protected:
  void SetUp() override {
    if (std::string_view(VOXSWAP_MPIEXEC).empty()) GTEST_SKIP() << "built without MPI, or with sanitizers";
    // As in a container, and on fewer cores than ranks. Sums of libraries may depend on the number of
    // threads.
    for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                             "OMPI_MCA_rmaps_base_oversubscribe", "OMP_NUM_THREADS"})
      setenv(name, "1", 1);
    setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
    ASSERT_EQ(program({"phantom", "--out", (folder_ / "data").string(), "--cases", "8", "--size", "16",
                       "--seed", "3"})
                  .code,
              0);
    write_file(folder_ / "experiment.yaml", R"(name: tiny
data: {root: data, modalities: [flair, t1ce], split: {validation: 0.4}}
preprocess: {resolution: 8}
network: {base_filters: 2, depth: 2}
training: {epochs: 3, seed: 5, batch_size: 12, precision: f32}
)");
  }

  Words run_into(const std::string& out, const Words& more = {}) {
    Words arguments = {"run", (folder_ / "experiment.yaml").string(), "--out", (folder_ / out).string(),
                       "data.cache=" + cache_.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  pid_t begin_on(int ranks, const Words& arguments) {
    Words all = {"-n", std::to_string(ranks), VOXSWAP_PROGRAM};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return start(all, {.log = log_}, VOXSWAP_MPIEXEC);
  }
  Outcome on(int ranks, const Words& arguments) { return finish(begin_on(ranks, arguments), {.log = log_}); }

  // Every table and tensor without a time in it.
  std::string results(const std::string& out) {
    std::string text;
    for (const char* table : {"epochs.csv", "validation.csv"}) {
      const Csv csv = read_csv(folder_ / out / table);
      for (const auto& row : csv.rows)
        for (const char* column :
             {"repeat", "epoch", "train_loss", "validation_loss", "learning_rate", "region", "dice"})
          for (std::size_t i = 0; i < csv.header.size(); ++i)
            if (csv.header[i] == column) text += row[i] + " ";
    }
    text += read_file(folder_ / out / "dice.csv");
    for (const char* name : {"last", "best"}) {
      const std::string all = read_file(folder_ / out / "checkpoints" / (std::string(name) + ".safetensors"));
      std::uint64_t header = 0;
      std::memcpy(&header, all.data(), sizeof header);
      text += all.substr(sizeof header + header);
    }
    return text;
  }

  // Processes of the program that train into this folder.
  std::vector<pid_t> ranks_here() {
    std::vector<pid_t> found;
    error_code ignored;
    for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
      const int id = std::atoi(entry.path().filename().c_str());
      if (id <= 0) continue;
      std::string line;
      try {
        line = read_file(entry.path() / "cmdline");
      } catch (const std::exception&) {
        continue;  // it is gone
      }
      if (line.starts_with(VOXSWAP_PROGRAM) && line.find(folder_.string()) != line.npos) found.push_back(id);
    }
    return found;
  }
};

TEST_F(RanksOfMpi, TrainToTheBytesOfOneByItself) {
  const Outcome alone = program(run_into("alone"));
  ASSERT_EQ(alone.code, 0) << alone.output;
  for (const int ranks : {2, 3, 4}) {
    const std::string out = "on_" + std::to_string(ranks);
    const Outcome outcome = on(ranks, run_into(out));
    ASSERT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_EQ(results(out), results("alone")) << ranks << " ranks";
    EXPECT_FALSE(fs::exists(folder_ / out / ".lock"));
  }
}

TEST_F(RanksOfMpi, LetTheFirstAlonePrint) {
  const Outcome outcome = on(3, run_into("out"));
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  std::size_t tables = 0, epochs = 0;
  for (std::size_t at = 0; (at = outcome.output.find("\nDice ", at)) != outcome.output.npos; ++at) ++tables;
  for (std::size_t at = 0; (at = outcome.output.find("epoch 3/3  train", at)) != outcome.output.npos; ++at)
    ++epochs;
  EXPECT_EQ(tables, 1u) << outcome.output;
  EXPECT_EQ(epochs, 1u) << outcome.output;
}

TEST_F(RanksOfMpi, RefuseABatchThatTheyCannotShareAndNameTheNearest) {
  const Outcome outcome = on(5, run_into("out"));
  EXPECT_NE(outcome.code, 0);
  EXPECT_THAT(outcome.output, HasSubstr("12 samples cannot be shared out equally among 5 ranks; the nearest "
                                        "that can: 10 and 15"));
  EXPECT_THAT(outcome.output, Not(HasSubstr("rank 1: ")));
  EXPECT_FALSE(fs::exists(folder_ / "out" / "experiment.yaml"));
}

TEST_F(RanksOfMpi, RefuseACommandThatTheyCannotShare) {
  const Outcome outcome = on(2, {"check", (folder_ / "data").string()});
  EXPECT_NE(outcome.code, 0);
  EXPECT_THAT(outcome.output, HasSubstr("start voxswap check by itself"));
}

TEST_F(RanksOfMpi, AllEndWhenOneIsKilledAndAnotherNumberGoesOn) {
  ASSERT_EQ(program(run_into("whole", {"training.epochs=20"})).code, 0);
  const Words more = {"training.epochs=20", "training.checkpoint_minutes=0.0001"};
  const pid_t launcher = begin_on(3, run_into("killed", more));
  while (waitpid(launcher, nullptr, WNOHANG) == 0 &&
         !fs::exists(folder_ / "killed/checkpoints/last.safetensors"))
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const std::vector<pid_t> ranks = ranks_here();
  ASSERT_EQ(ranks.size(), 3u) << read_file(log_);
  kill(ranks.back(), SIGKILL);
  const Outcome outcome = finish(launcher, {.log = log_});
  EXPECT_NE(outcome.code, 0) << outcome.output;
  EXPECT_THAT(ranks_here(), testing::IsEmpty());

  Words resumed = run_into("killed", more);
  resumed.push_back("--resume");
  const Outcome second = on(2, resumed);
  ASSERT_EQ(second.code, 0) << second.output;
  EXPECT_EQ(results("killed"), results("whole"));
}

// Politely: a signal to one of them lets all of them stop at the same step, whichever of the signals it is.
TEST_F(RanksOfMpi, StopTogetherWhenOneIsInterruptedAndOneAloneGoesOn) {
  ASSERT_EQ(program(run_into("whole", {"training.epochs=20"})).code, 0);
  const pid_t launcher = begin_on(2, run_into("stopped", {"training.epochs=20"}));
  while (waitpid(launcher, nullptr, WNOHANG) == 0 && !fs::exists(folder_ / "stopped/epochs.csv"))
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const std::vector<pid_t> ranks = ranks_here();
  ASSERT_EQ(ranks.size(), 2u) << read_file(log_);
  kill(ranks.back(), SIGUSR1);
  const Outcome outcome = finish(launcher, {.log = log_});
  EXPECT_EQ(outcome.code, 130) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("the same command with --resume continues a run"));
  EXPECT_TRUE(fs::exists(folder_ / "stopped/checkpoints/last.safetensors"));

  Words resumed = run_into("stopped", {"training.epochs=20"});
  resumed.push_back("--resume");
  ASSERT_EQ(program(resumed).code, 0);
  EXPECT_EQ(results("stopped"), results("whole"));
}

TEST_F(RanksOfMpi, ListThemselves) {
  const Outcome outcome = on(3, {"info", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const Json info = Json::parse(outcome.output.substr(outcome.output.find('{')));
  ASSERT_EQ(info["ranks"].size(), 3u);
  for (int rank = 0; rank < 3; ++rank) {
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
  Words sweep_into(const std::string& out, const std::string& seeds = "1,2,3,4") {
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
  const Outcome outcome = on(3, sweep_into("shared"));
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_EQ(merged("shared"), merged("alone"));
  for (const char* cell : {"seed-1", "seed-2", "seed-3", "seed-4"})
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
  EXPECT_THAT(outcome.output, HasSubstr("2 ranks were launched, and each runs a cell at a time"));
}

}  // namespace
}  // namespace voxswap::cli
