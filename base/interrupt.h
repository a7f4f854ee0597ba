// Ctrl-C as a flag that long loops check: the first one requests a stop at the next safe point, the second
// one ends the program at once. A closed terminal and a system shutdown set the same flag. SIGUSR1, with
// which batch systems announce the time limit, only sets the flag, even if repeated.
#pragma once

namespace voxswap {

// Handles SIGINT, SIGTERM, SIGUSR1 and, unless it is ignored (nohup), SIGHUP. Ignores SIGXFSZ and SIGPIPE, so
// that a file size limit or a closed pipe is an error of write() instead of ending the process.
void watch_for_interrupt();
bool interrupted();           // has a stop been requested?
void throw_if_interrupted();  // throws Exit::interrupted

// For the library in other programs: during its lifetime, Ctrl-C requests a stop. At the end, restores the
// program's handler and clears the request; if threads have several, the last one does.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
};

}  // namespace voxswap
