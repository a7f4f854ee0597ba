// Peak resident memory of a benchmark's process.
#pragma once

#include <sys/resource.h>

#include <cstdint>

namespace voxswap::bench {

inline std::int64_t peak_resident_bytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;  // Linux counts in KiB
}

}  // namespace voxswap::bench
