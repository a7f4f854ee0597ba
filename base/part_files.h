// Files that are being written: their names, their locks, and the removal of those that killed processes
// left.
//
// The name, `.voxswap-MACHINE-PROCESS-COUNT.part`, ends as no image does, so that no other program takes it
// for one. A part is locked while it is written: one without a lock was left by a process that was killed,
// and the next command that uses the folder removes it. Where the file system may hide the locks of other
// machines, only this machine's are removed.
#pragma once

#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace voxswap {

std::string
new_part_name();  // a file, or a folder with a file `content.EXTENSION` for libraries that go by it
constexpr std::string_view part_content = "content";

// True: this process may have it. Where there are no locks, no file is ever taken for abandoned.
bool lock_part(const Descriptor& file);

// Removes what killed processes left in a folder, and in folders that many levels below it; once per process
// and folder. Best effort: errors are ignored.
void remove_abandoned(const std::string& folder, int levels = 0);

}  // namespace voxswap
