// Ctrl-C as a question that long loops ask: the first asks to stop at the next safe point, the second stops
// at once.
#pragma once

namespace voxswap {

void watch_for_interrupt();   // installs the handlers for SIGINT and SIGTERM
bool interrupted();           // asked to stop?
void throw_if_interrupted();  // throws Exit::interrupted

}  // namespace voxswap
