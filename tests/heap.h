// The heap of a test program whose sources include heap.cpp: every allocation by `new` can be counted, or
// refused as where no memory is left.
#pragma once

#include <atomic>

namespace voxswap::test {

struct Heap {
  static std::atomic<long> allocations;  // that were asked for while `counted`
  static std::atomic<bool> counted;
  static std::atomic<bool> empty;  // no `new` gets memory
};

}  // namespace voxswap::test
