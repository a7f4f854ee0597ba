// The three standard streams: always open, even if the caller closed them. Results that cannot be written are
// an error. Messages go through log.h.
#pragma once

namespace voxswap {

// A stream that was closed is opened as /dev/null. Otherwise the next file would take its number, and
// messages would be written into that. Call it before anything opens a file.
void open_standard_streams();

// Throws Exit::does_not_fit or Exit::failed if something that was printed to stdout could not be written.
// Call it at the end. Output whose reader has gone is dropped without an error: whoever runs `voxswap run |
// head` has read what they wanted, and the exit code is that of the work.
void check_standard_output();

}  // namespace voxswap
