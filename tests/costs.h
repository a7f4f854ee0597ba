// The costs of kernels and copies are measured once for all tests of a build, because measuring takes
// seconds. They influence predicted step times, but no computed results.
#pragma once

#include "base/file.h"

namespace voxswap::test {

// The folder of these costs, in the build folder; the test programs are in its bin/.
inline fs::path shared_costs() {
  const fs::path build = fs::canonical("/proc/self/exe").parent_path().parent_path();
  fs::create_directories(build / "Testing/costs");
  return build / "Testing/costs";
}

// Creates `cache` with a link to these costs, unless it exists.
inline void share_costs(const fs::path& cache) {
  fs::create_directories(cache);
  if (!fs::exists(cache / "costs")) fs::create_directory_symlink(shared_costs(), cache / "costs");
}

}  // namespace voxswap::test
