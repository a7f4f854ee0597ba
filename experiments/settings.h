// Converts a YAML tree and overrides to one value per key. Unknown keys are rejected with the most similar
// known key.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/yaml.h"

namespace voxswap::experiments {

// Values by path; missing keys keep their defaults.
using Settings = std::map<std::string, Yaml>;

// The name of a key that an earlier version called `path`; otherwise `path` itself.
const std::string& current_name(const std::string& path);

// Reads the keys of a file; warns of former names. Throws Exit::usage with the line for an unknown key or one
// that is set twice.
Settings read_settings(const Yaml& file);

// Location of command-line settings, for messages.
inline const std::string on_the_line = "on the command line";

// Splits "dotted.key=value"; throws Exit::usage if it has another form.
std::pair<std::string, std::string> parse_assignment(const std::string& assignment);
// Parses the text of a value for a key: YAML or, for paths and patterns, literal text.
Yaml setting_value(const std::string& path, const std::string& text, const std::string& where);
// Replaces the setting of a key. A section takes a map; entries of map-valued keys can be set one by one.
void assign_setting(Settings& settings, const std::string& path, const Yaml& value);
// assign_setting() for "dotted.key=value".
void override_setting(Settings& settings, const std::string& assignment);

}  // namespace voxswap::experiments
