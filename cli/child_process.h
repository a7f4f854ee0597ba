// Runs this program as a child process: with its own log, cores and GPU.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/file.h"

namespace voxswap::cli {

struct ChildRequest {
  std::vector<std::string> arguments;  // behind the program's name
  fs::path log;                        // stdout and stderr are appended to it
  std::vector<int> cores;              // empty: as the parent
  std::string gpu;                     // empty: as the parent
};

// In a process group of its own, so that Ctrl-C on the terminal reaches the parent alone; asked to stop when
// the parent dies. Throws Exit::failed.
pid_t start_child(const ChildRequest& request);

// The exit status of a child that has ended, 128 + N when signal N ended it.
std::optional<int> poll_child(pid_t child);

void interrupt_child(pid_t child);  // as Ctrl-C does, also where it was interrupted already

}  // namespace voxswap::cli
