// Placeholder files of git-lfs and git-annex, whose content was not downloaded.
#pragma once

#include <string>

#include "base/file.h"

namespace voxswap::data {

// What stands there instead of a file's content and how to get it, the end of a sentence; empty for anything
// else.
std::string placeholder_at(const fs::path& path);

}  // namespace voxswap::data
