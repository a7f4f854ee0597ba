// A lock on a sweep's folder: one sweep at a time, or one for each part of its cells.
#pragma once

#include "base/filesystem.h"

namespace voxswap::cli {

// Held by this process and, inherited, by the cells' processes: whoever comes after a sweep that was killed
// waits until they have ended.
class SweepLock {
 public:
  // On the file `name` in the folder. What to do where a living process holds it: `waits` for it, as what it
  // does is brief, or throw Exit::failed.
  SweepLock(const fs::path& folder, const std::string& name, bool waits);
  ~SweepLock();
  SweepLock(const SweepLock&) = delete;
  SweepLock& operator=(const SweepLock&) = delete;

 private:
  bool holder_lives() const;

  fs::path file_;
  int descriptor_ = -1;
};

}  // namespace voxswap::cli
