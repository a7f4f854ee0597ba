// YAML as a tree in which every value has its line number for messages. Stricter than YAML: duplicate keys,
// keys that are not text, and several documents are errors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace voxswap::experiments {

struct Yaml {
  enum class Kind { nothing, scalar, list, map };
  Kind kind = Kind::nothing;
  std::string text;         // of a scalar, without quotes
  bool quoted = false;      // a quoted scalar is always text
  std::vector<Yaml> items;  // of a list
  struct Entry;
  std::vector<Entry> entries;  // of a map, in file order
  std::string where;           // "study.yaml:12", or the location given by the caller

  const Yaml* find(std::string_view key) const;  // of a map; nullptr if missing
};

struct Yaml::Entry {
  std::string key;
  Yaml value;
};

// `file`: name of the source. Locations are file:line; for a value in a map, the line of its key. Throws
// Exit::usage with the line for malformed YAML.
Yaml parse_yaml(const std::string& text, const std::string& file);

// Parses the value of an override; all of it has the location `where`.
Yaml parse_yaml_value(const std::string& text, const std::string& where);

// A scalar with this literal text.
Yaml yaml_text(const std::string& text, const std::string& where);

// One line for messages: 'abc', [1, 2], {a: 1}, nothing. Truncated if long.
std::string describe(const Yaml& value);

// One line as it would be written, not truncated: abc, [1, 2], {a: 1}; empty for nothing.
std::string one_line(const Yaml& value);

// A YAML scalar that parses to `text`; quoted only if needed.
std::string yaml_scalar(const std::string& text);

// Name and version of the YAML library, for `voxswap info`.
std::string yaml_library();

}  // namespace voxswap::experiments
