// The heap of a test program whose sources include heap.cpp: allocations by `new` and their bytes can be
// counted, or refused as where no memory is left.
#pragma once

#include <atomic>

namespace voxswap::test {

struct Heap {
  static std::atomic<long> allocations;  // that were asked for while `counted`
  static std::atomic<bool> counted;
  // Bytes that were taken and not released while `counted`, and the most that there were.
  static std::atomic<long> bytes, most_bytes;
  static std::atomic<bool> empty;  // no `new` gets memory
};

}  // namespace voxswap::test
