// What a cache remembers as text, in a file whose first line is the checksum of its name and of the rest:
// what was changed since is never taken for what was remembered.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace voxswap {

void write_sealed(const std::filesystem::path& path, std::string_view text);

// Nothing where there is no such file, and, with a warning, where it cannot be read or is not what was
// written.
std::optional<std::string> read_sealed(const std::filesystem::path& path);

}  // namespace voxswap
