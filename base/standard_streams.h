// The three streams that a process is born with: open whatever the caller did, and results that did not
// arrive are an error. Messages go through log.h.
#pragma once

namespace voxswap {

// A stream that was closed is opened as /dev/null. Otherwise the next file would take its number, and
// messages would be written into that. Call it before anything opens a file.
void open_standard_streams();

// Throws Exit::does_not_fit or Exit::failed when something that was printed to stdout did not arrive. Call it
// at the end.
void check_standard_output();

}  // namespace voxswap
