// Sweeps as a user has them: real processes, killed and restarted, several at once, failing, refused.
#include <gtest/gtest.h>
#include <sched.h>

#include <cctype>
#include <chrono>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "base/csv.h"
#include "base/file.h"
#include "base/parallel.h"
#include "base/text.h"
#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

class SweepCommand : public ProgramInAFolder {
 protected:
  void SetUp() override {
    ASSERT_EQ(program({"phantom", "--out", (folder_ / "data").string(), "--cases", "5", "--size", "16",
                       "--seed", "3"})
                  .code,
              0);
    write_file(folder_ / "tiny.yaml", R"(name: tiny
data: {root: data, modalities: [flair, t1ce]}
preprocess: {resolution: 8}
network: {base_filters: 2, depth: 2}
training: {epochs: 2}
memory: {planner: keep}
)");
  }

  Words sweep_into(const std::string& out, const Words& more) const {
    Words words = {"sweep", (folder_ / "tiny.yaml").string(), "--out", (folder_ / out).string(),
                   "data.cache=" + cache_.string()};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  Outcome sweep(const std::string& out, const Words& more) { return program(sweep_into(out, more)); }
  std::string bytes(const std::string& path) const { return read_file(folder_ / path); }

  int ended_cells(const std::string& out) const {
    int ended = 0;
    if (!fs::exists(folder_ / out)) return 0;
    for (const auto& cell : fs::directory_iterator(folder_ / out))
      ended += fs::exists(cell.path() / "outcome.json");
    return ended;
  }

  // The values of one column of a CSV, by the cell (or run) of the row.
  std::map<std::string, std::string> column(const std::string& path, const std::string& name) const {
    const Csv csv = read_csv(folder_ / path);
    std::map<std::string, std::string> values;
    for (const auto& row : csv.rows) values[row[0]] = row[csv.column(name, path)];
    return values;
  }
};

// Sleeps for about that long, or until the child has ended by itself.
bool still_running(pid_t child, int milliseconds) {
  for (int waited = 0; waited < milliseconds; waited += 10) {
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
    if (info.si_pid == child) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

TEST_F(SweepCommand, EndsWithTheSameBytesHoweverOftenItIsKilled) {
  const Words cells = {"training.seed=1,2,3", "network.base_filters=2,3"};
  const Outcome whole = sweep("whole", cells);
  ASSERT_EQ(whole.code, 0) << whole.output;
  // Each is killed a while after some cells more have ended, however long they take; the last leaves some to
  // be done.
  std::mt19937 random(7);
  for (int kills = 0; kills < 4; ++kills) {
    const pid_t child = start(sweep_into("cut", cells), {.log = log_});
    while (ended_cells("cut") < kills && still_running(child, 10)) {
    }
    if (!still_running(child, std::uniform_int_distribution<int>(0, 150)(random))) {
      ASSERT_EQ(finish(child, {.log = log_}).code, 0) << read_file(log_);
      break;
    }
    kill(child, kills % 2 == 0 ? SIGKILL : SIGINT);
    const Outcome outcome = finish(child, {.log = log_});
    ASSERT_TRUE(outcome.code == 128 + SIGKILL || outcome.code == 130 || outcome.code == 0)
        << outcome.code << outcome.output;
  }
  const Outcome end = sweep("cut", cells);
  ASSERT_EQ(end.code, 0) << end.output;
  for (const char* file : {"dice.csv", "boxplot.csv", "sweep.csv", "split.csv"})
    EXPECT_EQ(bytes(std::string("whole/") + file), bytes(std::string("cut/") + file)) << file;
  for (const char* name : {"train_loss", "validation_loss"})
    EXPECT_EQ(column("whole/epochs.csv", name), column("cut/epochs.csv", name));
  EXPECT_EQ(column("cut/epochs.csv", "run").size(), 6u);
  EXPECT_TRUE(fs::exists(folder_ / "cut/report.html"));
}

TEST_F(SweepCommand, RunsInPartsAtOnceToTheResultsOfTheWhole) {
  const std::string seeds = "training.seed=1,2,3,4,5";
  ASSERT_EQ(sweep("whole", {seeds}).code, 0);
  std::vector<pid_t> parts;
  for (const char* part : {"1/2", "2/2"})
    parts.push_back(start(sweep_into("parts", {seeds, "--part", part}),
                          {.log = folder_ / (std::string("part") + part[0])}));
  for (const pid_t part : parts) {
    const Outcome outcome = finish(part, {.log = log_});
    EXPECT_EQ(outcome.code, 0) << read_file(folder_ / "part1") << read_file(folder_ / "part2");
  }
  for (const char* file : {"dice.csv", "sweep.csv", "split.csv"})
    EXPECT_EQ(bytes(std::string("whole/") + file), bytes(std::string("parts/") + file)) << file;
  for (const char* wrong : {"0/2", "3/2", "1", "x/2", "1/"})
    EXPECT_EQ(sweep("parts", {seeds, "--part", wrong}).code, 2) << wrong;
}

TEST_F(SweepCommand, RunsWhatIsFinishedNoSecondTimeAndAddsCells) {
  ASSERT_EQ(sweep("s", {"training.seed=1,2"}).code, 0);
  const auto made = fs::last_write_time(folder_ / "s/seed-1/dice.csv");
  const Outcome again = sweep("s", {"training.seed=1,2,3"});
  ASSERT_EQ(again.code, 0) << again.output;
  EXPECT_EQ(fs::last_write_time(folder_ / "s/seed-1/dice.csv"), made);
  EXPECT_EQ(column("s/sweep.csv", "seed").size(), 3u);
}

TEST_F(SweepCommand, RefusesACellThatWasRunWithOtherValues) {
  ASSERT_EQ(sweep("s", {"training.seed=1,2"}).code, 0);
  const Outcome other = sweep("s", {"training.seed=1,2", "training.epochs=3"});
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.output.find("started with other values of training.epochs"), std::string::npos)
      << other.output;
  fs::create_directories(folder_ / "t/seed-1");
  fs::ofstream(folder_ / "t/seed-1/notes.txt") << "mine";
  EXPECT_NE(sweep("t", {"training.seed=1,2"}).output.find("is not a cell of a sweep"), std::string::npos);
}

TEST_F(SweepCommand, GoesOnWhenACellFailsAndSaysWhichAndWhy) {
  const Outcome outcome = sweep("s", {"memory.budget=8KiB,64MiB"});
  EXPECT_EQ(outcome.code, 4) << outcome.output;
  EXPECT_NE(outcome.output.find("budget-8KiB: failed with exit code 4: memory.budget"), std::string::npos)
      << outcome.output;
  EXPECT_EQ(column("s/sweep.csv", "budget"), (std::map<std::string, std::string>{{"budget-64MiB", "64MiB"}}));
  EXPECT_NE(bytes("s/report.html").find("Missing: budget-8KiB"), std::string::npos);
}

// What a sweep's children may run on, by process.
std::map<pid_t, std::set<int>> cores_of_children(pid_t parent) {
  std::map<pid_t, std::set<int>> result;
  fs::ifstream list(format("/proc/{0}/task/{0}/children", parent));
  for (pid_t child; list >> child;) {
    fs::ifstream name(format("/proc/{}/cmdline", child));
    std::string program;
    std::getline(name, program, '\0');
    cpu_set_t set;
    if (program != "voxswap" || sched_getaffinity(child, sizeof set, &set) != 0) continue;
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &set)) result[child].insert(core);
  }
  return result;
}

TEST_F(SweepCommand, SharesMemoryAndCoresOutToJobsAndNeverGivesMore) {
  if (usable_core_count() < 2) GTEST_SKIP() << "one core cannot be shared out";
  const Words shape = {"memory.planner=hybrid", "preprocess.resolution=16", "network.base_filters=4",
                       "training.epochs=1"};
  Words tight = {"plan", (folder_ / "tiny.yaml").string(), "--estimate", "memory.budget=1KiB"}, cells = shape;
  tight.insert(tight.end(), shape.begin(), shape.end());
  const std::string least = least_budget(program(tight).output);
  ASSERT_TRUE(least.ends_with('B') && std::isdigit(static_cast<unsigned char>(least[0]))) << least;
  const std::int64_t share = std::stoll(least) * 5 / 4;  // of each of two jobs
  cells.insert(cells.end(), {"training.seed=1,2,3", "--jobs", "2", "--memory", format("{}B", 2 * share)});
  const pid_t child = start(sweep_into("s", cells), {.log = log_});
  std::size_t most = 0;
  while (still_running(child, 10)) {
    const auto running = cores_of_children(child);
    most = std::max(most, running.size());
    if (running.size() < 2) continue;
    std::set<int> both = running.begin()->second;
    const std::size_t sum = both.size() + running.rbegin()->second.size();
    both.insert(running.rbegin()->second.begin(), running.rbegin()->second.end());
    EXPECT_EQ(both.size(), sum) << "two cells on one core";
  }
  const Outcome outcome = finish(child, {.log = log_});
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_EQ(most, 2u);
  const auto device = column("s/epochs.csv", "device_peak_bytes"),
             host = column("s/epochs.csv", "host_peak_bytes");
  ASSERT_EQ(device.size(), 3u);
  for (const auto& [run, used] : device) EXPECT_LE(std::stoll(used) + std::stoll(host.at(run)), share) << run;
  // Two that ask for more than half do not run beside one another.
  const Outcome large = sweep("t", {"training.seed=1,2", "training.epochs=1", "--jobs", "2", "--memory",
                                    "64MiB", "memory.budget=40MiB"});
  EXPECT_EQ(large.code, 0) << large.output;
  EXPECT_LT(large.output.find("seed-1: done"), large.output.find("seed-2 (2 of 2): started")) << large.output;
}

// As from a bundle on a cluster.
TEST_F(SweepCommand, HasEverythingButThePlotsWhereThereIsNoGnuplot) {
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (folder_ / "data").c_str(), 1);
  const Outcome outcome = sweep("s", {"training.seed=1,2"});
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("Install gnuplot-nox"), std::string::npos) << outcome.output;
  EXPECT_EQ(column("s/sweep.csv", "seed").size(), 2u);
  EXPECT_TRUE(fs::exists(folder_ / "s/seed-1/report.html"));
  EXPECT_EQ(program({"report", (folder_ / "s/seed-1").string()}).code, 0);
  EXPECT_TRUE(fs::exists(folder_ / "s/seed-1/boxplot.svg"));
}

TEST_F(SweepCommand, WritesTheSplitOfTheBestCellWhereSplitsAreSwept) {
  ASSERT_EQ(sweep("s", {"data.split.seed=1,2,3"}).code, 0);
  std::map<std::string, double> dice;
  const Csv csv = read_csv(folder_ / "s/sweep.csv");
  for (const auto& row : csv.rows) dice[row[0]] += std::stod(row[csv.column("mean", "sweep.csv")]);
  std::string best = dice.begin()->first;
  for (const auto& [cell, sum] : dice)
    if (sum > dice[best]) best = cell;
  EXPECT_EQ(bytes("s/split.csv"), bytes("s/" + best + "/split.csv"));
  // It serves as the split of another sweep.
  const Outcome other =
      sweep("t", {"training.seed=1,2", "data.split.file=" + (folder_ / "s/split.csv").string()});
  ASSERT_EQ(other.code, 0) << other.output;
  EXPECT_EQ(bytes("t/seed-2/split.csv"), bytes("s/split.csv"));
}

TEST_F(SweepCommand, PlansAndBenchesWithACsvAPlotAndAPage) {
  const Outcome plans =
      sweep("p", {"sweep.command=plan", "sweep.as=v100,h200", "sweep.devices=1,2", "sweep.devices_per_link=2",
                  "preprocess.resolution=32", "sweep.plot={x: devices, y: simulated_step_seconds, by: as}"});
  ASSERT_EQ(plans.code, 0) << plans.output;
  const auto seconds = column("p/sweep.csv", "simulated_step_seconds");
  ASSERT_EQ(seconds.size(), 4u);
  EXPECT_LT(std::stod(seconds.at("as-h200_devices-1")), std::stod(seconds.at("as-v100_devices-1")));
  for (const char* file : {"p/sweep.svg", "p/report.html", "p/as-v100_devices-2/timeline.json"})
    EXPECT_TRUE(fs::exists(folder_ / file)) << file;
  const Outcome benches = sweep("b", {"sweep.command=bench", "sweep.steps=2", "memory.planner=keep,hybrid",
                                      "preprocess.resolution=16"});
  ASSERT_EQ(benches.code, 0) << benches.output;
  EXPECT_GT(std::stod(column("b/sweep.csv", "step_seconds_median").at("planner-hybrid")), 0);
}

TEST_F(SweepCommand, TellsAsACellsAnswerThatItDoesNotFitWhenItOnlyPlans) {
  const Outcome plans = sweep("p", {"sweep.command=plan", "sweep.as=v100", "memory.budget=8KiB,64MiB"});
  ASSERT_EQ(plans.code, 0) << plans.output;
  EXPECT_EQ(column("p/sweep.csv", "fits"),
            (std::map<std::string, std::string>{{"budget-8KiB", "no"}, {"budget-64MiB", "yes"}}));
}

TEST_F(SweepCommand, RefusesAFoldOfNoneBeforeAnyCellRuns) {
  const Outcome folds = sweep("folds", {"data.split.fold=0,1"});
  EXPECT_EQ(folds.code, 2) << folds.output;
  EXPECT_NE(folds.output.find("data.split.fold: fold 0 needs several folds"), std::string::npos)
      << folds.output;
  EXPECT_FALSE(fs::exists(folder_ / "folds"));
}

TEST_F(SweepCommand, ADryRunTellsMemoryAndTimeAndWritesNothing) {
  const Outcome dry = sweep("dry", {"training.seed=1,2", "--dry-run"});
  EXPECT_EQ(dry.code, 0) << dry.output;
  for (const char* part : {"seed-1", "memory, peak", "2 cells, 1 at a time"})
    EXPECT_NE(dry.output.find(part), std::string::npos) << dry.output;
  EXPECT_FALSE(fs::exists(folder_ / "dry"));
  // Sums are over what fits; where nothing does, there are none.
  const Outcome one = sweep("dry", {"memory.budget=8KiB,64MiB", "--dry-run"});
  EXPECT_NE(one.output.find("2 cells (1 of them do not fit and are not included)"), std::string::npos)
      << one.output;
  const Outcome none = sweep("dry", {"memory.budget=8KiB,9KiB", "--dry-run"});
  EXPECT_NE(none.output.find("2 cells, none of which fits"), std::string::npos) << none.output;
  EXPECT_EQ(none.output.find("0 B"), std::string::npos) << none.output;
}

}  // namespace
}  // namespace voxswap::cli
