#include "base/filesystem.h"

namespace voxswap {

fs::path seen_from(const fs::path& folder, const fs::path& path) {
  return path.is_absolute() ? path : folder / path;
}

fs::path plain(const fs::path& path) {
  fs::path result;
  for (const fs::path& part : path) {  // a separator at the end is a part "."
    const bool below_something = result.has_filename() && result.filename() != "..";
    if (part == ".") continue;
    if (part != ".." || !below_something)
      result /= part;
    else if (result != result.root_path())
      result = result.parent_path();
  }
  return result.empty() && !path.empty() ? fs::path(".") : result;
}

}  // namespace voxswap
