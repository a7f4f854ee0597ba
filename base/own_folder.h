// A folder whose files a command replaces while it works: that of a run or a sweep. A file that was not
// written by voxswap, or was modified since, is kept as NAME.kept, with a warning.
//
// A record in the folder (.voxswap_written) contains size, modification time and hash of every file written.
// A file is known if its size and time match, or its hash, for example after copying the folder.
#pragma once

#include "base/file.h"

namespace voxswap {

class OwnFolder {
 public:
  // `is_ours`: if there is no record, as in folders of earlier versions, all existing files count as ours.
  OwnFolder(const fs::path& folder, bool is_ours);
  ~OwnFolder();
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;
};

// The functions below ignore files outside all OwnFolders of this process.

// Renames a file that is not known. Call it before replacing or removing the file.
void keep_others(const fs::path& file);
// Records `written`, which is about to be renamed to `target`.
void note_written(const fs::path& written, const fs::path& target);

// Removes a file by these rules; errors are ignored.
void remove_own(const fs::path& file);

}  // namespace voxswap
