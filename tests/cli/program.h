// The built program as a separate process, for tests that run, kill and resume it.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <map>
#include <optional>
#include <source_location>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "tests/costs.h"
#include "tests/expect.h"
#include "tests/folder.h"
#include "tests/safetensors.h"

namespace voxswap::cli {

using Words = std::vector<std::string>;
using test::contains;

struct Outcome {
  int code = -1;  // 128 + signal if it was killed
  std::string output;
  std::string errors;  // stderr, if written to a separate file
};

// The program must have succeeded.
inline Outcome succeeded(const Outcome& outcome,
                         const std::source_location& where = std::source_location::current()) {
  const testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()), "expects success");
  EXPECT_EQ(outcome.code, 0) << outcome.output << outcome.errors;
  return outcome;
}
// The program must have ended with this exit code and a message that contains all of these words.
inline Outcome failed(const Outcome& outcome, int code, const Words& words = {},
                      const std::source_location& where = std::source_location::current()) {
  const testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()), "expects a failure");
  EXPECT_EQ(outcome.code, code) << outcome.output << outcome.errors;
  for (const std::string& word : words)
    EXPECT_TRUE(contains(outcome.errors.empty() ? outcome.output : outcome.errors, word));
  return outcome;
}

// Output files and working folder of a program.
struct Surroundings {
  fs::path log;          // stdout, and stderr if it has no separate file
  fs::path errors = {};  // stderr
  fs::path folder = {};  // working folder; empty: that of the tests
  rlim_t limit = 0;      // limit of file sizes in bytes; 0: no limit
};

// In the child, between fork() and exec().
inline void enter(const Surroundings& where) {
  const auto write_to = [](const fs::path& file, int descriptor) {
    dup2(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666), descriptor);
  };
  write_to(where.log, 1);
  if (where.errors.empty())
    dup2(1, 2);
  else
    write_to(where.errors, 2);
  if (!where.folder.empty() && chdir(where.folder.c_str()) != 0) _exit(126);
  if (where.limit == 0) return;
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit bound = {where.limit, where.limit};
  setrlimit(RLIMIT_FSIZE, &bound);
}

// In the child: replaces it by a program, by default the built one.
[[noreturn]] inline void become_program(const Words& arguments, const char* program = VOXSWAP_PROGRAM) {
  std::vector<char*> words = {const_cast<char*>(program)};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  execv(words[0], words.data());
  _exit(127);
}

inline pid_t start(const Words& arguments, const Surroundings& where, const char* program = VOXSWAP_PROGRAM) {
  const pid_t child = fork();
  if (child != 0) return child;
  enter(where);
  become_program(arguments, program);
}

inline Outcome finish(pid_t child, const Surroundings& where) {
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_file(where.log),
          where.errors.empty() ? "" : read_file(where.errors)};
}

inline Outcome run_program(const Words& arguments, const Surroundings& where) {
  return finish(start(arguments, where), where);
}

inline Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// The header of a safetensors file, and the data after it.
inline std::pair<Json, std::string> read_weights(const fs::path& file) {
  return test::parts_of_safetensors(read_file(file));
}

// Runs the program in a folder, with a cache that has the shared costs.
class ProgramIn {
 public:
  explicit ProgramIn(fs::path folder) : folder_(std::move(folder)) { test::share_costs(cache_); }

 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string bytes(const std::string& name) const { return read_file(folder_ / name); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    fs::ofstream(folder_ / name, std::ios::binary) << text;
  }
  Outcome program(const Words& arguments, rlim_t limit = 0) const {
    return run_program(arguments, {.log = log_, .limit = limit});
  }
  // Must succeed.
  Outcome done(const Words& arguments) const {
    SCOPED_TRACE(arguments[0]);
    return succeeded(program(arguments));
  }
  // Must end with this exit code and a message that contains these words.
  Outcome refused(int code, const Words& arguments, const std::string& words = "") const {
    SCOPED_TRACE(arguments[0]);
    return failed(program(arguments), code, {words});
  }
  void phantoms(const std::string& cases, const std::string& size, const Words& more = {},
                const std::string& out = "data") const {
    done(Words{"phantom", "--out", path(out), "--cases", cases, "--size", size, "--seed", "3", "--quiet"} +
         more);
  }
  // Arguments to run `experiment.yaml` into a folder.
  Words into(const std::string& out, const Words& more = {}, const std::string& command = "run") const {
    return Words{command, path("experiment.yaml"), "--out", path(out), "data.cache=" + cache_.string()} +
           more;
  }
  // The tensors of a checkpoint, without the header, which contains the training time.
  std::string tensors(const std::string& run, const std::string& checkpoint) const {
    return read_weights(folder_ / run / "checkpoints" / (checkpoint + ".safetensors")).second;
  }
  // The values of a column, in order of rows.
  std::vector<std::string> column(const std::string& table, const std::string& name) const {
    const Csv csv = read_csv(folder_ / table);
    std::vector<std::string> values;
    for (const auto& row : csv.rows) values.push_back(row[csv.column(name, table)]);
    return values;
  }
  // The files of a folder and its subfolders whose names end so, by their paths in it.
  std::map<std::string, std::string> files(const std::string& of, const std::string& ending) const {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / of))
      if (entry.path().filename().string().ends_with(ending))
        found[entry.path().lexically_relative(folder_ / of).string()] = read_file(entry.path());
    EXPECT_FALSE(found.empty()) << of;
    return found;
  }
  // Runs into a folder repeatedly, each time for longer before one of these signals, until the program ends
  // normally. Returns how often it was stopped.
  int run_with_signals(const std::string& out, const Words& more, const std::vector<int>& signals) const {
    int stopped = 0, milliseconds = 150;
    for (std::size_t attempt = 0; attempt < 60; ++attempt, milliseconds += 60) {
      const bool begun = fs::exists(folder_ / out / "experiment.yaml");
      const pid_t child = start(into(out, begun ? more + Words{"--resume"} : more), {.log = log_});
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
      const int number = signals[attempt % signals.size()];
      kill(child, number);
      if (number == SIGUSR1) {  // batch systems may send it several times
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        kill(child, number);
      }
      const Outcome outcome = finish(child, {.log = log_});
      if (outcome.code == 0) return stopped;
      ++stopped;
      // Before the program handles SIGUSR1, the signal terminates it.
      EXPECT_TRUE(outcome.code == 128 + SIGKILL || outcome.code == 130 ||
                  (number == SIGUSR1 && outcome.code == 128 + SIGUSR1))
          << outcome.code << outcome.output;
    }
    ADD_FAILURE() << "it never ended by itself";
    return stopped;
  }

  const fs::path folder_, log_ = folder_ / "log", cache_ = folder_ / "cache";
};

// Each test runs in its own folder.
struct OwnFolder {
  const test::TemporaryFolder own_;
};
class ProgramInAFolder : private OwnFolder, public ProgramIn, public testing::Test {
 protected:
  ProgramInAFolder() : ProgramIn(own_.path()) {}
};

// All tests of a suite share one folder, which Suite::make_for_all() fills.
template <class Suite>
class ProgramInASharedFolder : public ProgramIn, public testing::Test {
 protected:
  ProgramInASharedFolder() : ProgramIn(shared_->path()) {}
  static void SetUpTestSuite() { shared_.emplace(); }
  static void TearDownTestSuite() { shared_.reset(); }
  void SetUp() override {  // in SetUpTestSuite(), a failure would only skip the tests
    if (!std::exchange(made_, true)) static_cast<Suite*>(this)->make_for_all();
  }

 private:
  static inline std::optional<test::TemporaryFolder> shared_;
  static inline bool made_ = false;
};

// The minimal budget that a planner states when given too little, plus 5 %, in bytes. It depends on the
// processor: workspaces of oneDNN's kernels differ, and with measured costs a planner keeps other values.
inline std::int64_t least_budget(const std::string& refusal) {
  const std::string before = "needs at least ";
  const std::size_t words = refusal.find(before), from = refusal.find('(', words);
  if (words == refusal.npos || from == refusal.npos) {
    ADD_FAILURE() << "no least budget in: " << refusal;
    return 0;
  }
  return std::stoll(refusal.substr(from + 1)) * 21 / 20;
}

}  // namespace voxswap::cli
