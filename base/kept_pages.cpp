#include "base/kept_pages.h"

#include <cstdlib>  // defines __GLIBC__

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace voxswap {

#ifdef __GLIBC__

KeptPages::KeptPages() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

// What glibc's thresholds come to by themselves after large buffers were freed.
KeptPages::~KeptPages() {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  malloc_trim(0);
}

#else

KeptPages::KeptPages() = default;
KeptPages::~KeptPages() = default;

#endif

}  // namespace voxswap
