// Runs this program as a child process with its own log, cores and GPU.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/file.h"

namespace voxswap::cli {

struct ChildRequest {
  std::vector<std::string> arguments;  // after the program's name
  fs::path log;                        // receives stdout and stderr, appended
  std::vector<int> cores;              // empty: those of the parent
  std::string gpu;                     // empty: that of the parent
};

// Starts a child in its own process group, so that Ctrl-C on the terminal only reaches the parent; it is
// interrupted when the parent dies. Throws Exit::failed.
pid_t start_child(const ChildRequest& request);

// The exit status of an ended child, or 128 + N if signal N ended it.
std::optional<int> poll_child(pid_t child);

void interrupt_child(pid_t child);  // like Ctrl-C, even if it was already interrupted

}  // namespace voxswap::cli
