// Completion scripts for shells: commands, options, their values and the keys of an experiment, from the
// tables behind help.
#pragma once

#include <string>
#include <vector>

namespace voxswap::cli {

std::vector<std::string> completed_shells();  // bash, zsh, fish

// REQUIRES: one of these.
std::string completion_script(const std::string& shell);

}  // namespace voxswap::cli
