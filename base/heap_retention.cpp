#include "base/heap_retention.h"

#include <cstdlib>  // defines __GLIBC__

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace voxswap {

#ifdef __GLIBC__

HeapRetention::HeapRetention() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  // Threads beside the first have heaps of 64 MiB. glibc unmaps an empty one unless this is as large.
  mallopt(M_TOP_PAD, 64 << 20);
}

// What glibc's thresholds come to by themselves after large buffers were freed.
HeapRetention::~HeapRetention() {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  mallopt(M_TOP_PAD, 128 << 10);
  malloc_trim(0);
}

#else

HeapRetention::HeapRetention() = default;
HeapRetention::~HeapRetention() = default;

#endif

}  // namespace voxswap
