// The pages of docs/reference/: commands, keys, files, exit codes, metrics, networks, losses and layouts,
// from the tables that the program itself uses.
#pragma once

#include <string>
#include <vector>

#include "base/filesystem.h"

namespace voxswap::cli {

struct ReferencePage {
  std::string name;  // "keys.md"
  std::string text;
};
std::vector<ReferencePage> reference_pages();

// Writes all of them into the folder, which is made.
void write_reference(const fs::path& folder);

}  // namespace voxswap::cli
