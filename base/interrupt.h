// Ctrl-C as a flag that long loops check: the first asks for a stop at the next safe point, the second stops
// at once. A closed terminal and a system shutdown set the same flag. SIGUSR1, with which a batch system
// announces the time limit, sets it too, however often it comes.
#pragma once

#include <csignal>

namespace voxswap {

// Handles SIGINT, SIGTERM, SIGUSR1 and, unless it is ignored (nohup), SIGHUP; a file that grows beyond its
// limit and a reader that has gone are errors of the write that meets them instead of signals that end the
// process.
void watch_for_interrupt();
bool interrupted();           // asked to stop?
void throw_if_interrupted();  // throws Exit::interrupted

// For a library within a program of others: while it lives, Ctrl-C asks for a stop; then the program's own
// handler is back, and nothing is asked for any more.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  struct sigaction before_ = {};
};

}  // namespace voxswap
