// Detects changes to a run's files: checksums.json in its folder contains the hash of every table and
// description.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/file.h"

namespace voxswap::pipeline {

using NamedContent = std::pair<std::string, std::string>;  // file name in the run's folder, content

// Records hashes of the files and writes them. Until the next settle_files(), the previous hashes stay valid:
// a process killed before renaming a file leaves the old version.
void write_noted(const fs::path& folder, const std::vector<NamedContent>& files);

// At the end of a run: only the last versions remain valid.
void settle_files(const fs::path& folder);

// Recorded files that were modified or are missing. Changed line endings in a table do not count. Empty for a
// folder without checksums. Throws Exit::bad_data if checksums.json is damaged.
std::vector<std::string> changed_files(const fs::path& folder);

// Tables without a recorded hash, whose changes cannot be detected. Every run with an identity.json records
// hashes before it writes tables.
std::vector<std::string> tables_without_note(const fs::path& folder);

}  // namespace voxswap::pipeline
