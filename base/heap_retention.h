// Lets large buffers reuse their pages: the system clears each page before it gives it to a process, which
// takes longer than much of the work on volumes.
#pragma once

namespace voxswap {

// During its lifetime, freed memory stays in the process for the next buffer; at the end it is returned to
// the system. Only affects speed; does nothing without glibc.
class HeapRetention {
 public:
  HeapRetention();
  ~HeapRetention();
  HeapRetention(const HeapRetention&) = delete;
  HeapRetention& operator=(const HeapRetention&) = delete;
};

}  // namespace voxswap
