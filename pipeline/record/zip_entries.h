// Reads uncompressed zip archives, the container of PyTorch's files (APPNOTE.TXT of PKWARE, with zip64).
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace voxswap::pipeline {

// The entries of an archive by name; the views point into `archive`. Throws std::runtime_error that says what
// is wrong: no archive, truncated, compressed or encrypted entries, ranges outside the file.
std::map<std::string, std::string_view> zip_entries(std::string_view archive);

}  // namespace voxswap::pipeline
