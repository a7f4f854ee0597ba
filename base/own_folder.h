// A folder whose files a command replaces while it works: that of a run or a sweep. A file there that voxswap
// did not write, or that somebody changed since, is not lost: it is kept as NAME.kept, with a warning.
//
// A record in the folder (.voxswap_written) has size, time of last change and hash of every file that was
// written. A file is known by its size and time, or by its hash, as after a copy of the folder.
#pragma once

#include "base/file.h"

namespace voxswap {

class OwnFolder {
 public:
  // `is_ours`: a version without records wrote what is there, so where there is no record, all of it is
  // known.
  OwnFolder(const fs::path& folder, bool is_ours);
  ~OwnFolder();
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;
};

// The functions below do nothing for files that are in no OwnFolder of this process.

// Renames a file that is not known. Call it before the file is replaced or removed.
void keep_others(const fs::path& file);
// Records `written`, which is about to be renamed to `target`.
void note_written(const fs::path& written, const fs::path& target);

// Removes a file by these rules; errors are ignored.
void remove_own(const fs::path& file);

}  // namespace voxswap
