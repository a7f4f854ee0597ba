// What kernels and copies take is measured once for all tests of a build, not anew in the cache of each: that
// takes seconds. It decides how long steps are said to take, and no number that comes out of them.
#pragma once

#include "base/file.h"

namespace voxswap::test {

// Where they are kept: in the build folder, of which this program is one of the bin/.
inline fs::path shared_costs() {
  const fs::path build = fs::canonical("/proc/self/exe").parent_path().parent_path();
  fs::create_directories(build / "Testing/costs");
  return build / "Testing/costs";
}

// Makes `cache`, where there is none, with a link to them.
inline void share_costs(const fs::path& cache) {
  fs::create_directories(cache);
  if (!fs::exists(cache / "costs")) fs::create_directory_symlink(shared_costs(), cache / "costs");
}

}  // namespace voxswap::test
