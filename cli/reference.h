// The pages of docs/reference/: commands, keys, files, exit codes, metrics, networks, losses and layouts,
// from the tables that the program itself uses.
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

// Writes all of them into the folder, which is made.
void write_reference(const fs::path& folder);

// The manual page, voxswap(1), in roff, from the tables behind help.
std::string manual_page();

// Completion scripts for shells: commands, options, their values and the keys of an experiment, from the
// tables behind help.
std::vector<std::string> completed_shells();  // bash, zsh, fish

// REQUIRES: one of these.
std::string completion_script(const std::string& shell);

}  // namespace voxswap::cli
