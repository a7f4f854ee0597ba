// From a YAML tree and overrides to one value per key: finds the key that each path names, refuses unknown
// ones with the nearest that is known.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/keys.h"

namespace voxswap {

// By path; what is not in it keeps its default.
using Settings = std::map<std::string, Yaml>;

// The keys of a whole file. Throws Exit::usage with the line for an unknown key, or one that is set twice.
Settings read_settings(const Yaml& file);

// "dotted.key=value": replaces what the settings hold for the key; a section takes a map.
void override_setting(Settings& settings, const std::string& assignment);

}  // namespace voxswap
