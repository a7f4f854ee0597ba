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
  // Other threads than the first have heaps of 64 MiB. glibc unmaps an empty heap unless M_TOP_PAD is this
  // large.
  mallopt(M_TOP_PAD, 64 << 20);
}

// The values that glibc's dynamic thresholds reach after large buffers have been freed.
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
