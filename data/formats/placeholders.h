// Placeholder files of git-lfs and git-annex, whose content was not downloaded.
#pragma once

#include <string>

#include "base/file.h"

namespace voxswap::data {

// Describes the placeholder and how to get the content, as the end of a sentence; empty for other files.
std::string placeholder_at(const fs::path& path);

}  // namespace voxswap::data
