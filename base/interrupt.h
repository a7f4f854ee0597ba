// Ctrl-C as a question that long loops ask: the first asks to stop at the next safe point, the second stops
// at once. A terminal that is closed and a system that shuts down ask in the same way. SIGUSR1, with which a
// batch system announces that time is nearly up, asks for the same however often it comes.
#pragma once

namespace voxswap {

// Handles SIGINT, SIGTERM, SIGUSR1 and, unless it is ignored (nohup), SIGHUP; a file that grows beyond its
// limit and a reader that has gone are errors of the write that meets them instead of signals that end the
// process.
void watch_for_interrupt();
bool interrupted();           // asked to stop?
void throw_if_interrupted();  // throws Exit::interrupted

}  // namespace voxswap
