#include "base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace voxswap {

unsigned usable_core_count() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned>(CPU_COUNT(&set));
  return std::max(1U, std::thread::hardware_concurrency());
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

}  // namespace voxswap
