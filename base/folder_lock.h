// A lock on a folder, so that one process at a time writes to it.
#pragma once

#include <functional>
#include <vector>

#include "base/file.h"

namespace voxswap {

// Locks the folder until destruction or the end of the process. The lock is on a file `.lock`, which is
// removed at the end; folders that were created and are still empty are removed, too.
class FolderLock {
 public:
  // Creates the folder if necessary. If another process has locked it, throws Exit::failed, or waits if
  // `patient`.
  explicit FolderLock(const fs::path& folder, bool patient = false);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  bool try_to_hold(bool patient);
  void remove_made();

  fs::path folder_, file_;
  std::vector<fs::path> made_;  // innermost first
  int descriptor_ = -1;
};

bool is_held(const fs::path& folder);  // by a FolderLock of any process
bool is_locked(const fs::path& file);  // exclusively, by flock() of any process

// Ignores locks and temporary files of killed processes, whose names begin with a dot.
bool holds_anything(const fs::path& folder);

// Fills a new or empty folder: calls `produce(part)`, which writes into a hidden folder inside it, and then
// moves the content of that. If it throws or the process is killed, nothing else appears. Throws Exit::usage
// if the folder holds anything.
void fill_folder(const fs::path& folder, const std::function<void(const fs::path& part)>& produce);

}  // namespace voxswap
