// The program when its caller closed its streams, ended, or sent a signal.
#include <gtest/gtest.h>

#include <csignal>

#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

// Shell redirections are closest to what users do.
int shell(const std::string& line) {
  const int status = std::system(line.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

class Streams : public ProgramInAFolder {
 protected:
  void SetUp() override {
    ASSERT_EQ(shell(at("phantom --out data --cases 4 --size 16 --seed 3 >log 2>&1")), 0);
    write("experiment.yaml",
          "name: tiny\ndata: {root: data, modalities: [flair, t1ce], cache: " + cache_.string() + R"(}
preprocess: {resolution: 8}
network: {base_filters: 2, depth: 2}
training: {epochs: 2, seed: 5}
memory: {planner: lms-threshold, lms_threshold: 1KiB, host: 16MiB, budget: 64MiB}
)");
  }

  std::string at(const std::string& arguments) const {
    return "cd " + folder_.string() + " && exec " + VOXSWAP_PROGRAM + " " + arguments;
  }
  std::string said() const { return read_file(log_); }
};

TEST_F(Streams, ThatAreFullOrGoneAreAnErrorAndNotSilence) {
  for (const char* command :
       {"check data", "check data --json", "--help", "--version", "help", "help run", "help --manual",
        "run --help", "run --help=all", "schema", "completion bash", "info", "run experiment.yaml --dry-run",
        "predict --xml", "plan experiment.yaml --estimate"}) {
    EXPECT_EQ(shell(at(std::string(command) + " >/dev/full 2>log")), 4) << command;
    EXPECT_TRUE(contains(said(), "standard output: cannot be written: No space left on device")) << command;
  }
}

// The reader of `voxswap run | head` has ended, and the run continues.
TEST_F(Streams, WithoutAReaderChangeNoExitCode) {
  const auto without_reader = [&](const std::string& arguments) {
    return shell("bash -c 'exec 3> >(true); wait $!; " + at(arguments + " >&3 2>log") + "'");
  };
  EXPECT_EQ(without_reader("schema"), 0) << said();
  EXPECT_EQ(said(), "");
  EXPECT_EQ(without_reader("schema --nonsense"), 2);
  EXPECT_EQ(without_reader("run experiment.yaml --out run"), 0) << said();
  EXPECT_TRUE(fs::exists(folder_ / "run/report.html"));
  EXPECT_EQ(without_reader("evaluate --truth run/predictions --prediction run/predictions --out scores.csv"),
            0);
}

// As after `disown` and logging out: writing then gives an input/output error.
TEST_F(Streams, OfAClosedTerminalChangeNoExitCode) {
  EXPECT_EQ(shell(R"(cd )" + folder_.string() + R"( && exec python3 -c '
import os, signal, subprocess
signal.signal(signal.SIGHUP, signal.SIG_IGN)
ours, theirs = os.openpty()
os.close(ours)
raise SystemExit(subprocess.run([")" VOXSWAP_PROGRAM R"(", "schema"], stdout=theirs).returncode)' 2>log)"),
            0)
      << said();
}

// The first file opened would get descriptor 2, and messages would be written into it.
TEST_F(Streams, ThatAreClosedTakeNoFilesPlace) {
  ASSERT_EQ(shell(at("run experiment.yaml --out open >log 2>&1")), 0) << said();
  // A scratch file, which is open all the time.
  const std::string closed =
      "'memory.disk={path: " + test::shared_costs().string() + ", budget: 64MiB}' memory.host=64KiB";
  ASSERT_EQ(shell(at("run experiment.yaml --out closed " + closed + " <&- >&- 2>&-")), 0);
  EXPECT_EQ(bytes("open/dice.csv"), bytes("closed/dice.csv"));
}

TEST_F(Streams, AClosedTerminalEndsARunAsCtrlCDoes) {
  auto* const before =
      std::signal(SIGHUP, SIG_DFL);  // a suite under nohup ignores it, and its children would
  const pid_t child =
      start(into("run", {"training.epochs=100000", "training.early_stop=100000"}), {.log = log_});
  std::signal(SIGHUP, before);
  for (int i = 0; i < 6000 && !fs::exists(folder_ / "run/epochs.csv"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  kill(child, SIGHUP);
  const Outcome outcome = failed(finish(child, {.log = log_}), 130);
  EXPECT_TRUE(fs::exists(folder_ / "run/checkpoints/last.safetensors"));
  EXPECT_TRUE(contains(outcome.output, "--resume"));
}

// Without ignoring SIGXFSZ, unlike other tests of full disks.
TEST_F(Streams, ALimitOnFilesIsAMessage) {
  EXPECT_EQ(shell("ulimit -f 8 && " + at("run experiment.yaml --out small >log 2>&1")), 4) << said();
  EXPECT_TRUE(contains(said(), "error: "));
}

}  // namespace
}  // namespace voxswap::cli
