// The entries of a `sweep:` that are not keys of the experiment, and which entries are swept.
#pragma once

#include <string>
#include <vector>

#include "experiments/yaml.h"

namespace voxswap::experiments {

// What the swept command is asked; may be swept over as keys are.
bool is_sweep_question(const std::string& word);
// What is said about the sweep as a whole.
bool is_sweep_statement(const std::string& word);

// An axis whose values are maps of any keys: what has to change together.
inline constexpr const char* sweep_settings = "settings";

// Whether an entry of `sweep:` has several values, one cell for each.
bool is_swept(const std::string& path, const Yaml& entry);

}  // namespace voxswap::experiments
