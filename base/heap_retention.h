// Large buffers that reuse their pages: the system clears each page before it gives it to a process, which
// takes longer than much of the work on volumes.
#pragma once

namespace voxswap {

// While one lives, freed memory stays with the process for the next buffer; at its end it goes back to the
// system. Changes time and nothing else; nothing at all where the C library is not glibc.
class HeapRetention {
 public:
  HeapRetention();
  ~HeapRetention();
  HeapRetention(const HeapRetention&) = delete;
  HeapRetention& operator=(const HeapRetention&) = delete;
};

}  // namespace voxswap
