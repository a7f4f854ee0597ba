#include "base/parallel.h"

#include <sched.h>
#include <unistd.h>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace voxswap {

namespace {

unsigned cores_of_affinity() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned>(CPU_COUNT(&set));
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace

void take_subnormals_for_zero() {
#ifdef __x86_64__
  constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x40;
  _mm_setcsr(_mm_getcsr() | flush_to_zero | denormals_are_zero);
#endif
}

unsigned usable_core_count() {
  const unsigned cores = cores_of_affinity();
  return std::min(cores, core_quota().value_or(cores));
}

bool is_bound_to_cores() {
  return static_cast<long>(cores_of_affinity()) < sysconf(_SC_NPROCESSORS_ONLN);
}

std::optional<unsigned> core_quota(const fs::path& root) {
  std::optional<unsigned> least;
  std::istringstream groups(read_if_possible(root / "proc/self/cgroup"));
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::")) continue;  // version 2
    for (fs::path group = fs::path(line.substr(3)).relative_path();; group = group.parent_path()) {
      // "quota period" in microseconds, or "max period".
      std::istringstream file(read_if_possible(root / "sys/fs/cgroup" / group / "cpu.max"));
      double quota = 0, period = 0;
      if (file >> quota >> period && quota > 0 && period > 0) {
        const auto cores = static_cast<unsigned>(std::ceil(quota / period));
        least = std::min(least.value_or(cores), cores);
      }
      if (group.empty()) break;
    }
  }
  return least;
}

namespace {

// Tasks start in order, so every task below a failed one has started, and its error will be reported.
struct Work {
  std::size_t count;
  const std::function<void(std::size_t)>& task;
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex{};  // guards the two members below
  std::size_t failed_at = 0;
  std::exception_ptr error{};

  void run() {
    while (!failed) {
      const std::size_t i = next++;
      if (i >= count) return;
      try {
        task(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error || i < failed_at) {
          error = std::current_exception();
          failed_at = i;
        }
        failed = true;
      }
    }
  }
};

}  // namespace

void parallel_for(std::size_t count, const std::function<void(std::size_t)>& work, unsigned threads) {
  if (threads == 0) threads = usable_core_count();
  Work shared{count, work};
  std::vector<std::thread> others;
  others.reserve(threads);
  try {
    for (std::size_t i = 1; i < std::min<std::size_t>(threads, count); ++i)
      others.emplace_back([&] { shared.run(); });
  } catch (const std::exception&) {
    // The system grants no more threads: continue with those that exist.
  }
  shared.run();
  for (std::thread& other : others) other.join();
  if (shared.error) std::rethrow_exception(shared.error);
}

void parallel_ranges(std::size_t count, std::size_t least,
                     const std::function<void(std::size_t, std::size_t)>& work) {
  if (count == 0) return;
  static const unsigned threads = usable_core_count();  // reads files
  // A few ranges per thread, since another program may slow one of them down.
  const std::size_t ranges =
      std::clamp<std::size_t>(count / std::max<std::size_t>(least, 1), 1, std::size_t{4} * threads);
  if (ranges == 1 || threads == 1) return work(0, count);
  parallel_for(
      ranges, [&](std::size_t i) { work(count * i / ranges, count * (i + 1) / ranges); }, threads);
}

}  // namespace voxswap
