// Cached text in a file whose first line is a checksum of the file's name and content. A modified or renamed
// file is ignored.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"

namespace voxswap {

void write_checksummed(const fs::path& path, std::string_view text);

// Returns nullopt if the file does not exist. Also warns if it cannot be read or its checksum is wrong.
std::optional<std::string> read_checksummed(const fs::path& path);

}  // namespace voxswap
