#include "cli/output.h"

#include <unistd.h>

#include "base/error.h"
#include "base/filesystem.h"

namespace voxswap::cli {

void check_output_file(const std::string& option, const fs::path& file) {
  error_code error;
  const fs::path folder = fs::absolute(file).parent_path();
  if (fs::is_directory(file, error))
    fail(Exit::usage, "{}: {}: is a folder. Expected the name of a file", option, file.string());
  if (!fs::is_directory(folder, error))
    fail(Exit::usage, "{}: {}: there is no folder {}. Create it, or write elsewhere", option, file.string(),
         folder.string());
  check_output_folder(folder);
}

// The nearest folder above it that is there counts.
void check_output_folder(const fs::path& folder) {
  fs::path there = plain(fs::absolute(folder));
  error_code error;
  while (!fs::exists(there, error) && there.has_parent_path() && there != there.parent_path())
    there = there.parent_path();
  if (!fs::is_directory(there, error))
    fail(Exit::failed, "{}: cannot be written: {} is not a folder. Choose another with --out DIR",
         folder.string(), there.string());
  if (::access(there.c_str(), W_OK | X_OK) != 0)
    fail(Exit::failed, "{}: cannot be written: no permission to write to {}. Choose another with --out DIR",
         folder.string(), there.string());
}

}  // namespace voxswap::cli
