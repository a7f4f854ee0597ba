// Checks of --out before the work, not after it.
#pragma once

#include <string>

#include "base/filesystem.h"

namespace voxswap::cli {

// Throws Exit::usage when the folder of `file` is not there or `file` is a folder, Exit::failed when it may
// not be written to.
void check_output_file(const std::string& option, const fs::path& file);

// May a folder be written to, that may have to be made? Throws Exit::failed.
void check_output_folder(const fs::path& folder);

}  // namespace voxswap::cli
