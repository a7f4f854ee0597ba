// Restarts the program with a changed environment, for libraries that read it when they are loaded.
#pragma once

namespace voxswap::cli {

// Returns only on failure. REQUIRES: nothing that this process has opened or started is still needed.
void restart(char** values);

// Called first in main() by commands that compute. Makes waiting OpenMP threads sleep after some microseconds
// unless the environment sets another policy: GNU's threads spin for milliseconds, which takes cores from
// other programs and from the threads they wait for.
void let_waiting_threads_sleep(char** values);

}  // namespace voxswap::cli
