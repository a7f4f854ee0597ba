// Entries of `sweep:` that are not experiment keys, and which entries are swept.
#pragma once

#include <string>
#include <vector>

#include "experiments/yaml.h"

namespace voxswap::experiments {

// Options of the swept command, which may be swept like keys.
bool is_sweep_question(const std::string& word);
// Properties of the whole sweep.
bool is_sweep_statement(const std::string& word);
std::vector<std::string> sweep_words();  // both

// An axis whose values are maps of keys that change together.
inline constexpr const char* sweep_settings = "settings";

// True if an entry of `sweep:` has several values, one cell for each.
bool is_swept(const std::string& path, const Yaml& entry);

}  // namespace voxswap::experiments
