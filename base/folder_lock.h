// A lock on a folder, so that one process at a time writes to it.
#pragma once

#include <vector>

#include "base/file.h"

namespace voxswap {

// Holds the folder until it is destroyed or the process ends, however it ends. The lock is on a file `.lock`
// in it, which is removed at the end, as are the folders that had to be made, where nothing was put into
// them.
class FolderLock {
 public:
  // Makes the folder where it is not there. Throws Exit::failed at once when another process holds it.
  explicit FolderLock(const fs::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  bool try_to_hold();
  void remove_made();

  fs::path folder_, file_;
  std::vector<fs::path> made_;  // the innermost first
  int descriptor_ = -1;
};

bool is_held(const fs::path& folder);  // by a FolderLock of any process

// Beside locks and what a killed process had not yet renamed into place, whose names begin with a dot.
bool holds_anything(const fs::path& folder);

}  // namespace voxswap
