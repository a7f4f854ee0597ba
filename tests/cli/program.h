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
#include "base/filesystem.h"

namespace voxswap::cli {

struct Outcome {
  int code = -1;  // 128 + signal when it was killed
  std::string output;
};

// Starts the program with stdout and stderr in `log`. `limit`: bytes that a file may grow to, 0 for no limit.
inline pid_t start(const std::vector<std::string>& arguments, const fs::path& log, rlim_t limit = 0) {
  const pid_t child = fork();
  if (child != 0) return child;
  const int descriptor = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  dup2(descriptor, 1);
  dup2(descriptor, 2);
  if (limit > 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit bound = {limit, limit};
    setrlimit(RLIMIT_FSIZE, &bound);
  }
  std::vector<char*> words = {const_cast<char*>(VOXSWAP_PROGRAM)};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  execv(words[0], words.data());
  _exit(127);
}

inline Outcome finish(pid_t child, const fs::path& log) {
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_file(log)};
}

// What kernels and copies take is measured once for all tests, not anew in every cache: `cache` is made with
// a link to where that is kept. It decides how long steps are said to take, and no number that comes out of
// them.
inline void share_costs(const fs::path& cache) {
  const fs::path shared = fs::path(VOXSWAP_PROGRAM).parent_path().parent_path() / "Testing/costs";
  fs::create_directories(shared);
  fs::create_directories(cache);
  fs::create_directory_symlink(shared, cache / "costs");
}

// What a planner that was given too little says it needs at least, as a value of memory.budget. What that is
// depends on the processor: the kernels that oneDNN has for it want workspaces of their own.
inline std::string least_budget(const std::string& refusal) {
  const std::string before = "needs at least ";
  const std::size_t words = refusal.find(before), from = refusal.find('(', words);
  if (words == refusal.npos || from == refusal.npos) return "no least budget in: " + refusal;
  return refusal.substr(from + 1, refusal.find(" bytes)", from) - from - 1) + "B";
}

}  // namespace voxswap::cli
