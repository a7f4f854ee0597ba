// YAML as a plain tree in which every value knows the line it came from, so that any message about it can say
// where. Stricter than YAML itself: a key that stands twice, a key that is no text and a second document are
// errors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace voxswap::experiments {

struct Yaml {
  enum class Kind { nothing, scalar, list, map };
  Kind kind = Kind::nothing;
  std::string text;         // of a scalar, without its quotes
  bool quoted = false;      // a quoted scalar is text, never a number
  std::vector<Yaml> items;  // of a list
  struct Entry;
  std::vector<Entry> entries;  // of a map, in the order of the file
  std::string where;           // "study.yaml:12", or what the caller passed

  const Yaml* find(std::string_view key) const;  // of a map; nullptr when it is not there
};

struct Yaml::Entry {
  std::string key;
  Yaml value;
};

// `file` names the source; each value's `where` is file:line, for a value in a map the line of its key.
// Throws Exit::usage with the line for anything that is not well-formed.
Yaml parse_yaml(const std::string& text, const std::string& file);

// The value of an override: one YAML value, all of it at `where`.
Yaml parse_yaml_value(const std::string& text, const std::string& where);

// A scalar that is `text`, taken literally.
Yaml yaml_text(const std::string& text, const std::string& where);

// One line, for messages: 'abc', [1, 2], {a: 1}, nothing. Long ones are cut.
std::string describe(const Yaml& value);

// The same uncut and as it would be written: abc, [1, 2], {a: 1}; nothing is empty.
std::string one_line(const Yaml& value);

// The text as a YAML scalar that reads back as itself; quoted only where needed.
std::string yaml_scalar(const std::string& text);

// The library that reads it, for `voxswap info`.
std::string yaml_library();

}  // namespace voxswap::experiments
