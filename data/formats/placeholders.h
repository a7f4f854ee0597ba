// Files that stand for others: what git-lfs and git-annex leave where the content was not fetched.
#pragma once

#include <filesystem>
#include <string>

namespace voxswap::data {

// What stands there instead of a file's content and how to get it, the end of a sentence; empty for anything
// else.
std::string placeholder_at(const std::filesystem::path& path);

}  // namespace voxswap::data
