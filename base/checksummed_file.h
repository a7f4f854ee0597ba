// Cached text in a file whose first line is a checksum of the file's name and content. A file that was
// changed or renamed is not read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"

namespace voxswap {

void write_checksummed(const fs::path& path, std::string_view text);

// Returns nullopt when there is no such file. When the file cannot be read or fails its checksum, it also
// warns.
std::optional<std::string> read_checksummed(const fs::path& path);

}  // namespace voxswap
