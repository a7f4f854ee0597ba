// Runs independent tasks on several threads, one task per case or file. Kernels have their own threads.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "base/file.h"

namespace voxswap {

// Cores that the process may run on: those of its CPU affinity, at most as many as its cgroups grant.
unsigned usable_core_count();
// Whether the CPU affinity leaves fewer cores than the machine has: each of several processes may have its
// own.
bool is_bound_to_cores();
// Cores that the cgroups of the process (version 2, cpu.max) grant, rounded up; nullopt without a limit.
// `root`: where to find proc and sys, for tests.
std::optional<unsigned> core_quota(const fs::path& root = "/");

// Subnormal numbers count as 0 on this thread and those that it starts. Values and moments of channels that
// hardly change become subnormal, and some processors then compute a hundred times slower.
void take_subnormals_for_zero();

// Calls work(0) … work(count - 1), each once, on at most `threads` threads (0: usable_core_count()), or as
// many as the system grants. The order of tasks is unspecified, so each task writes to its own memory. If
// tasks throw, no further task starts; after all threads have ended, the error of the lowest index is
// rethrown.
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& work, unsigned threads = 0);

// Calls work(begin, end) for ranges that together are [0, count), as above. Ranges have at least `least`
// elements, so that no thread starts for little work.
void parallel_ranges(std::size_t count, std::size_t least,
                     const std::function<void(std::size_t, std::size_t)>& work);

}  // namespace voxswap
