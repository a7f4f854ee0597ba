// What a cache remembers as text, in a file whose first line is the checksum of its name and of the rest:
// what was changed since is never taken for what was remembered.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/filesystem.h"

namespace voxswap {

void write_checksummed(const fs::path& path, std::string_view text);

// Nothing where there is no such file, and, with a warning, where it cannot be read or is not what was
// written.
std::optional<std::string> read_checksummed(const fs::path& path);

}  // namespace voxswap
