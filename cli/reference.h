// Generates the pages of docs/reference/ (commands, keys, files, exit codes, metrics, networks, losses,
// layouts) from the program's own tables.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"

namespace voxswap::cli {

struct ReferencePage {
  std::string name;  // "keys.md"
  std::string text;
};
std::vector<ReferencePage> reference_pages();

// Writes all pages into the folder, which is created.
void write_reference(const fs::path& folder);

// The manual page voxswap(1) in roff, from the same tables.
std::string manual_page();

// Shell completion scripts for commands, options, their values and experiment keys, from the same tables.
std::vector<std::string> completed_shells();  // bash, zsh, fish

// REQUIRES: one of completed_shells().
std::string completion_script(const std::string& shell);

}  // namespace voxswap::cli
