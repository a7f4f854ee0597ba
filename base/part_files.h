// Temporary files during writing: names, locks, and removal of files left by killed processes.
//
// The name, `.voxswap-MACHINE-PROCESS-COUNT.part`, has no image extension, so that other programs do not read
// it. A file is locked while it is being written; one without lock was left by a killed process and is
// removed by the next command that uses the folder. If the file system may hide locks of other machines, only
// files of this machine are removed.
#pragma once

#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace voxswap {

// The name of a part file, or of a folder that contains the file `content.EXTENSION`, for libraries that need
// the extension. Such a folder is removed with all its contents.
std::string new_part_name();
constexpr std::string_view part_content = "content";

// True if the lock was acquired. Without support for locks, no file is ever considered abandoned.
bool lock_part(const Descriptor& file);

// Removes temporary files of killed processes in a folder and `levels` levels of subfolders, once per process
// and folder. Best effort: errors are ignored.
void remove_abandoned(const std::string& folder, int levels = 0);

}  // namespace voxswap
