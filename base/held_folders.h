// Folders locked by this process (folder_lock.h). If one is removed during the run, it is not recreated,
// since it would contain an incomplete run.
#pragma once

#include <string>

namespace voxswap {

// Absolute paths in the form of plain().
void hold_folder(const std::string& folder);
void release_folder(const std::string& folder);
bool holds_folder(const std::string& folder);

}  // namespace voxswap
