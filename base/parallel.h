// Runs independent tasks on several threads, one task per case or file. Kernels have their own threads.
#pragma once

#include <cstddef>
#include <functional>

namespace voxswap {

// Cores that the process may run on. Fewer than the machine has when a CPU affinity is set.
unsigned usable_core_count();

// Calls work(0) … work(count - 1), each once, on at most `threads` threads (0: usable_core_count()), or as
// many as the system grants. The order of tasks is unspecified, so each task writes to its own memory. If
// tasks throw, no further task starts; after all threads have ended, the error of the lowest index is
// rethrown.
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& work, unsigned threads = 0);

}  // namespace voxswap
