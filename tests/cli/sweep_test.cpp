// Sweeps from a user's view: real processes, killed and restarted, several at once, failing, rejected.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/file.h>

#include <cctype>
#include <map>
#include <random>
#include <set>

#include "base/parallel.h"
#include "base/text.h"
#include "tests/cli/tiny_sweeps.h"
#include "tests/environment.h"

namespace voxswap::cli {
namespace {

class SweepCommand : public TinySweeps {
 protected:
  SweepCommand() : TinySweeps(2) {}

  Words sweep_into(const std::string& out, const Words& more) const { return into(out, more, "sweep"); }
  Outcome sweep(const std::string& out, const Words& more) { return program(sweep_into(out, more)); }

  int ended_cells(const std::string& out) const {
    int ended = 0;
    if (!fs::exists(folder_ / out)) return 0;
    for (const auto& cell : fs::directory_iterator(folder_ / out))
      ended += fs::exists(cell.path() / "outcome.json");
    return ended;
  }

  // The values of one column of a CSV, by the cell (or run) of the row.
  std::map<std::string, std::string> by_cell(const std::string& table, const std::string& name) const {
    const Csv csv = read_csv(folder_ / table);
    std::map<std::string, std::string> values;
    for (const auto& row : csv.rows) values[row[0]] = row[csv.column(name, table)];
    return values;
  }
};

// Sleeps for about that long, or until the child has ended.
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
  const Words cells = {"training.seed=1,2", "network.base_filters=2,3"};
  const Outcome whole = succeeded(sweep("whole", cells));
  // Each is killed some time after more cells have ended, however long these take; the last one leaves some
  // to do.
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
  done(sweep_into("cut", cells));
  for (const char* file : {"dice.csv", "boxplot.csv", "sweep.csv", "split.csv"})
    EXPECT_EQ(bytes(std::string("whole/") + file), bytes(std::string("cut/") + file)) << file;
  for (const char* name : {"train_loss", "validation_loss"})
    EXPECT_EQ(by_cell("whole/epochs.csv", name), by_cell("cut/epochs.csv", name));
  EXPECT_EQ(by_cell("cut/epochs.csv", "run").size(), 4u);
  EXPECT_TRUE(fs::exists(folder_ / "cut/report.html"));
}

TEST_F(SweepCommand, RunsInPartsAtOnceToTheResultsOfTheWhole) {
  const std::string seeds = "training.seed=1,2,3";
  done(sweep_into("whole", {seeds}));
  std::vector<pid_t> parts;
  for (const char* part : {"1/2", "2/2"})
    parts.push_back(start(sweep_into("parts", {seeds, "--part", part}),
                          {.log = folder_ / (std::string("part") + part[0])}));
  for (const pid_t part : parts) {
    const Outcome outcome = finish(part, {.log = log_});
    EXPECT_EQ(outcome.code, 0) << bytes("part1") << bytes("part2");
  }
  for (const char* file : {"dice.csv", "sweep.csv", "split.csv"})
    EXPECT_EQ(bytes(std::string("whole/") + file), bytes(std::string("parts/") + file)) << file;
  for (const char* wrong : {"0/2", "3/2", "1", "x/2", "1/"})
    EXPECT_EQ(sweep("parts", {seeds, "--part", wrong}).code, 2) << wrong;
}

TEST_F(SweepCommand, RunsWhatIsFinishedNoSecondTimeAndAddsCells) {
  done(sweep_into("s", {"training.seed=1,2"}));
  const auto made = fs::last_write_time(folder_ / "s/seed-1/dice.csv");
  done(sweep_into("s", {"training.seed=1,2,3"}));
  EXPECT_EQ(fs::last_write_time(folder_ / "s/seed-1/dice.csv"), made);
  EXPECT_EQ(by_cell("s/sweep.csv", "seed").size(), 3u);
  const Outcome fewer = done(sweep_into("s", {"training.seed=3,4"}));
  EXPECT_TRUE(contains(fewer.output, "2 cells of an earlier sweep (seed-1, seed-2)")) << fewer.output;
}

TEST_F(SweepCommand, IsWatchedWithALineForEachRun) {
  done(sweep_into("s", {"training.seed=1,2"}));
  const std::string ended = "finished, epoch 2 of 2, best Dice ";
  const std::string shown = done({"watch", path("s")}).output;
  EXPECT_TRUE(contains(shown, "s: not running, 2 runs started\n", "seed-1: " + ended, "seed-2: " + ended))
      << shown;
  const int lock = ::open(path("s/.sweep.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::flock(lock, LOCK_EX | LOCK_NB), 0);  // as a sweep between two of its runs
  EXPECT_TRUE(contains(done({"watch", path("s"), "--once"}).output, "s: running, 2 runs started\n"));
  const Json watched = parse_json(done({"watch", path("s"), "--json"}).output);
  ::close(lock);
  EXPECT_EQ(watched["state"], "running");
  ASSERT_EQ(watched["runs"].size(), 2u);
  EXPECT_EQ(watched["runs"][1]["name"], "seed-2");
  EXPECT_EQ(watched["runs"][1]["state"], "finished");
}

TEST_F(SweepCommand, RefusesACellThatWasRunWithOtherValues) {
  done(sweep_into("s", {"training.seed=1,2"}));
  failed(sweep("s", {"training.seed=1,2", "training.epochs=3"}), 2,
         {"started with other values of training.epochs"});
  fs::create_directories(folder_ / "t/seed-1");
  fs::ofstream(folder_ / "t/seed-1/notes.txt") << "mine";
  EXPECT_TRUE(contains(sweep("t", {"training.seed=1,2"}).output, "is not a cell of a sweep"));
}

TEST_F(SweepCommand, GoesOnWhenACellFailsAndSaysWhichAndWhy) {
  failed(sweep("s", {"memory.budget=8KiB,64MiB"}), 4,
         {"budget-8KiB: failed with exit code 4: memory.budget"});
  EXPECT_EQ(by_cell("s/sweep.csv", "budget"),
            (std::map<std::string, std::string>{{"budget-64MiB", "64MiB"}}));
  EXPECT_TRUE(contains(bytes("s/report.html"), "Missing: budget-8KiB"));
}

// The cores that each child process of a sweep may use.
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
  const Words shape = {"memory.planner=keep", "preprocess.resolution=16", "network.base_filters=4",
                       "training.epochs=1"};
  const Words tight =
      Words{"plan", path("experiment.yaml"), "--estimate", "memory.budget=1KiB", "memory.host=none"} + shape;
  const std::int64_t share = least_budget(program(tight).output) * 5 / 4;  // of each of two jobs
  const Words cells =
      shape + Words{"training.seed=1,2,3", "--jobs", "2", "--memory", format("{}B", 2 * share)};
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
  succeeded(finish(child, {.log = log_}));
  EXPECT_EQ(most, 2u);
  const auto device = by_cell("s/epochs.csv", "device_peak_bytes"),
             host = by_cell("s/epochs.csv", "host_peak_bytes");
  ASSERT_EQ(device.size(), 3u);
  for (const auto& [run, used] : device) EXPECT_LE(std::stoll(used) + std::stoll(host.at(run)), share) << run;
  // Two cells that need more than half each do not run at the same time.
  const Outcome large = succeeded(sweep("t", {"training.seed=1,2", "training.epochs=1", "--jobs", "2",
                                              "--memory", "64MiB", "memory.budget=40MiB"}));
  EXPECT_LT(large.output.find("seed-1: done"), large.output.find("seed-2 (2 of 2): started")) << large.output;
}

// As from a bundle on a cluster.
TEST_F(SweepCommand, HasEverythingButThePlotsWhereThereIsNoGnuplot) {
  Outcome outcome;
  {
    const test::Environment nothing("PATH", (folder_ / "data").string());
    outcome = sweep("s", {"training.seed=1,2"});
  }
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "Install gnuplot-nox"));
  EXPECT_EQ(by_cell("s/sweep.csv", "seed").size(), 2u);
  EXPECT_TRUE(fs::exists(folder_ / "s/seed-1/report.html"));
  done({"report", path("s/seed-1")});
  EXPECT_TRUE(fs::exists(folder_ / "s/seed-1/boxplot.svg"));
}

TEST_F(SweepCommand, WritesTheSplitOfTheBestCellWhereSplitsAreSwept) {
  done(sweep_into("s", {"data.split.seed=1,2,3"}));
  std::map<std::string, double> dice;
  const Csv csv = read_csv(folder_ / "s/sweep.csv");
  for (const auto& row : csv.rows) dice[row[0]] += std::stod(row[csv.column("mean", "sweep.csv")]);
  std::string best = dice.begin()->first;
  for (const auto& [cell, sum] : dice)
    if (sum > dice[best]) best = cell;
  EXPECT_EQ(bytes("s/split.csv"), bytes("s/" + best + "/split.csv"));
  // It can be used as the split of another sweep.
  done(sweep_into("t", {"training.seed=1,2", "data.split.file=" + path("s/split.csv")}));
  EXPECT_EQ(bytes("t/seed-2/split.csv"), bytes("s/split.csv"));
}

TEST_F(SweepCommand, PlansAndBenchesWithACsvAPlotAndAPage) {
  done(sweep_into(
      "p", {"sweep.command=plan", "sweep.as=v100,h200", "sweep.devices=1,2", "sweep.devices_per_link=2",
            "preprocess.resolution=32", "sweep.plot={x: devices, y: simulated_step_seconds, by: as}"}));
  const auto seconds = by_cell("p/sweep.csv", "simulated_step_seconds");
  ASSERT_EQ(seconds.size(), 4u);
  EXPECT_LT(std::stod(seconds.at("as-h200_devices-1")), std::stod(seconds.at("as-v100_devices-1")));
  for (const char* file : {"p/sweep.svg", "p/report.html", "p/as-v100_devices-2/timeline.json"})
    EXPECT_TRUE(fs::exists(folder_ / file)) << file;
  done(sweep_into("b", {"sweep.command=bench", "sweep.steps=2", "memory.planner=keep,hybrid",
                        "preprocess.resolution=16"}));
  EXPECT_GT(std::stod(by_cell("b/sweep.csv", "step_seconds_median").at("planner-hybrid")), 0);
}

TEST_F(SweepCommand, ThatOnlyPlansReportsCellsThatDoNotFit) {
  done(sweep_into("p", {"sweep.command=plan", "sweep.as=v100", "memory.budget=8KiB,64MiB"}));
  EXPECT_EQ(by_cell("p/sweep.csv", "fits"),
            (std::map<std::string, std::string>{{"budget-8KiB", "no"}, {"budget-64MiB", "yes"}}));
}

TEST_F(SweepCommand, RefusesAFoldOfNoneBeforeAnyCellRuns) {
  const Outcome folds =
      failed(sweep("folds", {"data.split.fold=0,1"}), 2, {"data.split.fold: fold 0 needs several folds"});
  EXPECT_FALSE(fs::exists(folder_ / "folds"));
}

TEST_F(SweepCommand, ADryRunPrintsMemoryAndTimeAndWritesNothing) {
  const Outcome dry = succeeded(sweep("dry", {"training.seed=1,2", "--dry-run"}));
  EXPECT_TRUE(contains(dry.output, "seed-1", "memory, peak", "2 cells, 1 in parallel"));
  EXPECT_FALSE(fs::exists(folder_ / "dry"));
  // Sums include only cells that fit; if none does, there are no sums.
  const Outcome one = sweep("dry", {"memory.budget=8KiB,64MiB", "--dry-run"});
  EXPECT_TRUE(contains(one.output, "2 cells (1 of them do not fit and are not included)"));
  const Outcome none = sweep("dry", {"memory.budget=8KiB,9KiB", "--dry-run"});
  EXPECT_TRUE(contains(none.output, "2 cells, none of which fits"));
  EXPECT_FALSE(contains(none.output, "0 B"));
}

}  // namespace
}  // namespace voxswap::cli
