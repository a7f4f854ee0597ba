// Independent pieces of work on several threads: for what is done once per case or file. Kernels have their
// own threads.
#pragma once

#include <cstddef>
#include <functional>

namespace voxswap {

// Cores that the process may run on, which are fewer than the machine's where it is bound to some of them.
unsigned usable_core_count();

// Calls work(0) … work(count - 1), each once, on at most `threads` threads (0: as many as the process may run
// on), or as many as the system gives. Which piece runs where and when is open, so pieces write to places of
// their own. Of what pieces throw, the error of the lowest index is thrown here after all threads have ended;
// none is begun after an error.
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& work, unsigned threads = 0);

}  // namespace voxswap
