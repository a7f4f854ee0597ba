#include "cli/child_process.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/error.h"
#include "net/collective/launched.h"

extern char** environ;

namespace voxswap::cli {

namespace {

// The parent's environment plus variables for the child. Made before fork(), after which memory must not be
// allocated.
std::vector<std::string> environment_of(const ChildRequest& request) {
  std::vector<std::string> set;
  if (!request.cores.empty()) set.push_back(format("OMP_NUM_THREADS={}", request.cores.size()));
  if (!request.gpu.empty()) {
    set.push_back("CUDA_VISIBLE_DEVICES=" + request.gpu);
    set.push_back("CUDA_DEVICE_ORDER=PCI_BUS_ID");
  }
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string variable = *entry;
    const std::string name = variable.substr(0, variable.find('=') + 1);
    bool replaced = net::makes_a_rank(name);  // the child is not a rank
    for (const std::string& other : set) replaced = replaced || other.starts_with(name);
    if (!replaced) all.push_back(variable);
  }
  all.insert(all.end(), set.begin(), set.end());
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

pid_t start_child(const ChildRequest& request) {
  std::vector<std::string> words = {"voxswap"}, variables = environment_of(request);
  words.insert(words.end(), request.arguments.begin(), request.arguments.end());
  const std::vector<char*> arguments = pointers(words), environment = pointers(variables);
  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (const int core : request.cores) CPU_SET(core, &cores);
  const int log = ::open(request.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
  if (log < 0) fail(Exit::failed, "{}: cannot be written: {}", request.log.string(), std::strerror(errno));
  const pid_t parent = ::getpid(), child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGINT);
    if (::getppid() != parent) ::_exit(static_cast<int>(Exit::interrupted));  // the parent has already died
    ::signal(SIGINT, SIG_DFL);
    ::signal(SIGTERM, SIG_DFL);
    ::signal(SIGUSR1, SIG_DFL);
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    if (!request.cores.empty()) ::sched_setaffinity(0, sizeof cores, &cores);
    ::execve("/proc/self/exe", arguments.data(), environment.data());
    ::_exit(127);
  }
  const int trouble = errno;
  ::close(log);
  if (child < 0) fail(Exit::failed, "cannot start another process: {}", std::strerror(trouble));
  ::setpgid(child, child);  // in parent and child, since either may run first
  return child;
}

std::optional<int> poll_child(pid_t child) {
  int status = 0;
  if (::waitpid(child, &status, WNOHANG) != child) return std::nullopt;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void interrupt_child(pid_t child) {
  ::kill(child, SIGUSR1);  // harmless if a launcher has already signalled all processes of the job
}

}  // namespace voxswap::cli
