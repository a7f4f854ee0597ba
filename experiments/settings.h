// From a YAML tree and overrides to one value per key: finds the key that each path names, refuses unknown
// ones with the nearest that is known.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/yaml.h"

namespace voxswap::experiments {

// By path; what is not in it keeps its default.
using Settings = std::map<std::string, Yaml>;

// The keys of a whole file. Throws Exit::usage with the line for an unknown key, or one that is set twice.
Settings read_settings(const Yaml& file);

// The place of what was given there, for messages.
inline const std::string on_the_line = "on the command line";

// "dotted.key=value" in its two parts; throws Exit::usage when it is none.
std::pair<std::string, std::string> parse_assignment(const std::string& assignment);
// The text of a value as the key takes it: YAML, or for paths and patterns the text as it stands.
Yaml setting_value(const std::string& path, const std::string& text, const std::string& where);
// Replaces what the settings hold for the key; a section takes a map; a map's entry is set by itself.
void assign_setting(Settings& settings, const std::string& path, const Yaml& value);
// "dotted.key=value": replaces what the settings hold for the key; a section takes a map.
void override_setting(Settings& settings, const std::string& assignment);

}  // namespace voxswap::experiments
