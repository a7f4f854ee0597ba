// Folders that this process holds (folder_lock.h). One that somebody removes meanwhile is not created again:
// half of a run would be left there.
#pragma once

#include <string>

namespace voxswap {

// Absolute paths, as plain() has them.
void hold_folder(const std::string& folder);
void release_folder(const std::string& folder);
bool holds_folder(const std::string& folder);

}  // namespace voxswap
