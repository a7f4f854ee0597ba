#include "cli/restart.h"

#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "base/file.h"

namespace voxswap::cli {

namespace {

// Iterations of a spin loop: about ten microseconds, as long as waking a sleeping thread takes.
constexpr const char* spins = "1000";

bool has_one_thread() {
  if (const char* threads = std::getenv("OMP_NUM_THREADS")) return std::string_view(threads) == "1";
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) == 1;
}

}  // namespace

void restart(char** values) {
  boost::system::error_code unknown;
  const fs::path own = fs::read_symlink("/proc/self/exe", unknown);  // the name shown in process lists
  if (!unknown) ::execv(own.c_str(), values);
  ::execv("/proc/self/exe", values);  // if the file was replaced in the meantime
}

void let_waiting_threads_sleep(char** values) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  if (has_one_thread() || values[0] == nullptr) return;
  if (::setenv("GOMP_SPINCOUNT", spins, 1) == 0) restart(values);
}

}  // namespace voxswap::cli
