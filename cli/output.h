// Where a command is told to write: looked at before the work, not after it.
#pragma once

#include <filesystem>
#include <string>

namespace voxswap::cli {

// Throws Exit::usage when the folder of `file` is not there or `file` is a folder, Exit::failed when it may
// not be written to.
void check_output_file(const std::string& option, const std::filesystem::path& file);

// May a folder be written to, that may have to be made? Throws Exit::failed.
void check_output_folder(const std::filesystem::path& folder);

}  // namespace voxswap::cli
