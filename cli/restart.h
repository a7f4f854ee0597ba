// Restarts the program with another environment, for libraries that read theirs only when they are loaded.
#pragma once

namespace voxswap::cli {

// Returns where it cannot be done. Nothing that this process has opened or begun may be lost by it.
void restart(char** values);

// Before anything else. Threads of OpenMP that wait for one another sleep after some microseconds, unless the
// environment says how they are to wait: GNU's spin for milliseconds, and beside another program take the
// cores from those that they wait for.
void let_waiting_threads_sleep(char** values);

}  // namespace voxswap::cli
