// The built program as a process of its own, for tests that run, kill and resume it.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "base/file.h"
#include "tests/costs.h"
#include "tests/folder.h"

namespace voxswap::cli {

using Words = std::vector<std::string>;

struct Outcome {
  int code = -1;  // 128 + signal when it was killed
  std::string output;
  std::string errors;  // what went to stderr, where that has a file of its own
};

// Where a program writes and works.
struct Surroundings {
  fs::path log;          // stdout, and stderr where that has no file of its own
  fs::path errors = {};  // stderr
  fs::path folder = {};  // in which it works; empty: where the tests do
  rlim_t limit = 0;      // bytes that a file may grow to; 0: no limit
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

// In the child: becomes a program, the built one where none is named.
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

// Tests that run the program, each in a folder of its own with a cache that has the shared costs.
class ProgramInAFolder : public test::InAFolder {
 protected:
  ProgramInAFolder() { test::share_costs(cache_); }
  Outcome program(const Words& arguments, rlim_t limit = 0) const {
    return run_program(arguments, {.log = log_, .limit = limit});
  }

  const fs::path log_ = folder_ / "log", cache_ = folder_ / "cache";
};

// What a planner that was given too little says it needs at least, as a value of memory.budget. What that is
// depends on the processor: the kernels that oneDNN has for it want workspaces of their own.
inline std::string least_budget(const std::string& refusal) {
  const std::string before = "needs at least ";
  const std::size_t words = refusal.find(before), from = refusal.find('(', words);
  if (words == refusal.npos || from == refusal.npos) return "no least budget in: " + refusal;
  return refusal.substr(from + 1, refusal.find(" bytes)", from) - from - 1) + "B";
}

}  // namespace voxswap::cli
