// The heap of a test program whose sources include heap.cpp: allocations by `new` and their bytes can be
// counted, or made to fail as if memory had run out.
#pragma once

#include <atomic>

namespace voxswap::test {

struct Heap {
  static std::atomic<long> allocations;  // number of allocations while `counted`
  static std::atomic<bool> counted;
  // Bytes allocated and not released while `counted`, and their maximum.
  static std::atomic<long> bytes, most_bytes;
  static std::atomic<bool> empty;  // every `new` fails
};

}  // namespace voxswap::test
