// Runs tests/gpu_check on the emulated GPU in small sizes: every part by itself and in any order, and with
// some programs replaced by ones that hang or crash.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "tests/expect.h"
#include "tests/folder.h"

namespace voxswap::net {
namespace {

const fs::path script = fs::path(VOXSWAP_SOURCE_DIR) / "tests/gpu_check",
               programs = VOXSWAP_EMULATED_PROGRAMS;
constexpr auto largest_file = std::uintmax_t{16} << 20;  // limits of the output: this size, 8 files

class GpuCheck : public test::InAFolder {
 protected:
  void SetUp() override {
    if (std::system("python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null") != 0)
      GTEST_SKIP() << "there is no Python 3.10 here";
    for (const char* name : {"voxswap", "test_net", "test_swap", "test_conformance", "same_bits",
                             "node_times", "engine_times"}) {
      if (!fs::exists(programs / name)) GTEST_SKIP() << programs / name << " is not built";
      fs::create_directories(programs_);
      fs::create_symlink(programs / name, programs_ / name);
    }
  }

  // Replaces a program by a shell script, which finds its arguments in $@.
  void replace(const std::string& name, const std::string& shell) const {
    fs::remove(programs_ / name);
    write_file(programs_ / name, "#!/bin/sh\n" + shell + "\n");
    fs::permissions(programs_ / name, fs::perms::owner_all);
  }

  struct Outcome {
    int code = -1;
    std::string said, summary;
    // The line of a step, "" if it has none.
    std::string verdict(const std::string& step) const {
      for (const std::string& line : split(summary, '\n'))
        if (line.starts_with(step + " ")) return line;
      return "";
    }
  };
  // Runs a part; returns the exit code of gpu_check.
  int run(const std::string& part, const std::string& options) const {
    const std::string command = format(
        "VOXSWAP_GPU_CHECK_DEVICE=emulated python3 '{}' --part {} --patience 8 --programs '{}' {} '{}' >'{}' "
        "2>&1",
        script.string(), part, programs_.string(), options, out(part).string(), log(part).string());
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  Outcome check(const std::string& part, const std::string& options = "") const {
    Outcome outcome;
    outcome.code = run(part, options);
    outcome.said = read_file(log(part));
    outcome.summary = read_file(out(part) / (part + "_summary.txt"));
    std::size_t files = 0;
    for (const auto& entry : fs::directory_iterator(out(part))) {
      ++files;
      EXPECT_LE(fs::file_size(entry), largest_file) << entry.path();
    }
    EXPECT_LE(files, 8u);
    EXPECT_TRUE(fs::exists(out(part) / (part + "_logs.tar.gz")));
    return outcome;
  }

  static void expect_passed(const Outcome& outcome, const std::vector<std::string>& steps) {
    for (const std::string& step : steps)
      EXPECT_TRUE(test::contains(outcome.verdict(step), "passed")) << step << "\n" << outcome.summary;
  }
  fs::path out(const std::string& part) const { return folder_ / ("out_" + part); }
  fs::path log(const std::string& part) const { return folder_ / ("log_" + part); }

  const fs::path programs_ = folder_ / "programs";
};

const std::vector<std::string> steps_of_a = {
    "device",        "contract",      "executor_0",          "executor_3",
    "same_bits",     "conformance_0", "conformance_1",       "conformance_2",
    "conformance_3", "large_volumes", "nodes_deterministic", "nodes_fastest"};

TEST_F(GpuCheck, PassesPartAOnTheEmulatedGpu) {
  const Outcome outcome = check("a");
  EXPECT_EQ(outcome.code, 0) << outcome.said;
  expect_passed(outcome, steps_of_a);
  for (const std::string& step : steps_of_a)
    EXPECT_LT(outcome.said.find("== " + step + " "), outcome.said.find(outcome.verdict(step))) << step;
}

TEST_F(GpuCheck, PassesPartBOnTheEmulatedGpu) {
  const Outcome outcome = check("b");
  EXPECT_EQ(outcome.code, 0) << outcome.said;
  expect_passed(outcome, {"engine_times", "steps", "more_steps"});
  for (const char* file : {"b_engine_times.csv", "steps.csv"})
    EXPECT_GT(split(read_file(folder_ / "out_b" / file), '\n').size(), 3u) << file;
  EXPECT_TRUE(test::contains(read_file(folder_ / "out_b/steps.csv"), "one by one"));
}

TEST_F(GpuCheck, PassesPartCOnTheEmulatedGpuButForToolsThatAreNotThere) {
  const Outcome outcome = check("c");
  EXPECT_EQ(outcome.code, 0) << outcome.said;
  expect_passed(outcome, {"swapping", "largest", "huge_convolution", "cut_convolutions", "f16", "tf32",
                          "unified", "whole_run"});
  EXPECT_GT(split(read_file(folder_ / "out_c/c_cut_convolutions.csv"), '\n').size(), 3u);
  for (const char* step :
       {"ncu_forward", "ncu_weight_gradient", "ncu_norm_gradient", "memcheck", "racecheck"})
    EXPECT_NE(outcome.verdict(step), "") << step;
}

// The study is killed in its sixth measurement, then run with an item that fails, then completely: each call
// only does what is missing. Its results are inserted into the tables of the documentation.
TEST_F(GpuCheck, GoesOnWithTheStudyWhereItWasKilledAndAfterAnItemThatFails) {
  const fs::path table = out("study") / "study.csv", store = folder_ / "store", count = folder_ / "count";
  const auto rows = [&] { return fs::exists(table) ? split(read_file(table), '\n').size() : 0; };
  const std::string options = "--store '" + store.string() + "'";
  // $PPID measures one item; its parent is gpu_check.
  replace("voxswap", format("[ $1 = bench ] && echo >>'{0}'\nif [ \"$(wc -l <'{0}')\" = 6 ]; then\n"
                            "  echo >>'{0}'; kill -KILL $(cut -d' ' -f4 /proc/$PPID/stat) $PPID; exit 1\nfi\n"
                            "exec '{1}' \"$@\"",
                            count.string(), (programs / "voxswap").string()));
  write_file(count, "");
  EXPECT_NE(run("study", options), 0);
  const std::string before = read_file(table);
  EXPECT_GT(rows(), 3u);

  replace("same_bits", "exit 1");
  const Outcome failed = check("study", options);
  EXPECT_EQ(failed.code, 1) << failed.said;
  EXPECT_TRUE(read_file(table).starts_with(before)) << "a row was measured again";
  EXPECT_TRUE(test::contains(failed.verdict("bits"), "FAILED")) << failed.summary;
  expect_passed(failed, {"planners", "link", "overhead", "unified"});

  fs::remove(programs_ / "same_bits");
  fs::create_symlink(programs / "same_bits", programs_ / "same_bits");
  const std::size_t measured = rows();
  const Outcome last = check("study", options);
  EXPECT_EQ(last.code, 0) << last.said;
  expect_passed(last, {"bits"});
  EXPECT_EQ(last.verdict("planners"), "") << last.summary;
  // One more of part bits; items that this machine does not support are tried again.
  EXPECT_LE(rows(), measured + 1 + 9);

  const fs::path root = folder_ / "repository", read = fs::path(VOXSWAP_SOURCE_DIR) / "bench/gpu/read";
  fs::create_directories(root / "bench/results");
  fs::create_directories(root / "docs");
  fs::copy(fs::path(VOXSWAP_SOURCE_DIR) / "docs/results", root / "docs/results");
  const auto take = [&](const std::string& words) {
    return std::system(format("python3 '{}' '{}' {} >'{}' 2>&1", read.string(), table.parent_path().string(),
                              words, (folder_ / "log").string())
                           .c_str());
  };
  EXPECT_NE(take(""), 0) << "rows of the emulated GPU are no results of the repository";
  EXPECT_EQ(take("--root '" + root.string() + "'"), 0) << read_file(folder_ / "log");
  EXPECT_TRUE(test::contains(read_file(folder_ / "log"), "| unified: unified |"));
  EXPECT_TRUE(test::contains(read_file(root / "docs/results/study.md"), "| hybrid |"));
  EXPECT_TRUE(test::contains(read_file(root / "docs/results/training_speed.md"), "| epochs: nnunet"));
}

TEST_F(GpuCheck, GoesOnAfterAStepThatHangsAndOneThatCrashes) {
  replace("same_bits", "echo it starts; sleep 1000 & wait");
  replace("test_swap", "kill -SEGV $$");
  const Outcome outcome = check("a", "--limit same_bits=2");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(test::contains(outcome.verdict("same_bits"), "FAILED: stopped after 2 s")) << outcome.summary;
  EXPECT_TRUE(test::contains(outcome.verdict("executor_0"), "FAILED: killed by SIGSEGV")) << outcome.summary;
  for (const std::string& step : steps_of_a)
    if (step != "same_bits" && !step.starts_with("executor")) expect_passed(outcome, {step});
}

TEST_F(GpuCheck, EndsInItsTimeAndStillReportsWhereEverythingHangs) {
  for (const char* name :
       {"voxswap", "test_net", "test_swap", "test_conformance", "same_bits", "node_times", "engine_times"})
    replace(name, "sleep 1000");
  for (const char* part : {"c", "b", "a"}) {
    const Outcome outcome = check(part, "--seconds 6");
    EXPECT_EQ(outcome.code, 1) << part;
    EXPECT_TRUE(test::contains(outcome.summary, "FAILED: not run: no time left", "FAILED: stopped after"));
  }
}

}  // namespace
}  // namespace voxswap::net
