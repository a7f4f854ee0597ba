// Detects changes to a run's files: checksums.json in its folder has the hash of every table and description.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/file.h"

namespace voxswap::pipeline {

using NamedContent = std::pair<std::string, std::string>;  // name in the run's folder, content

// Writes the files and notes their hashes. Of each file the hash before is noted as well, until the next
// settle_files(): a process that is killed before a file was renamed leaves the old one.
void write_noted(const fs::path& folder, const std::vector<NamedContent>& files);

// A run is done: only what was written last counts from now on.
void settle_files(const fs::path& folder);

// The noted files that are no longer as they were written, or are gone; a table that was only saved anew with
// other line ends is as it was. A folder without notes has none. Throws Exit::bad_data when the notes
// themselves are damaged.
std::vector<std::string> changed_files(const fs::path& folder);

// The tables in the folder of which no hash is noted, so that nobody can tell whether they were changed.
// Every run with an identity.json notes them before it writes them.
std::vector<std::string> tables_without_note(const fs::path& folder);

}  // namespace voxswap::pipeline
