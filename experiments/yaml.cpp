#include "experiments/yaml.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "base/error.h"

namespace voxswap::experiments {

namespace {

// Aliases can expand to unlimited size; experiments need neither depth nor size.
constexpr int deepest = 32;
constexpr int most_values = 20000;

// Texts become names and JSON, which must be UTF-8.
void check_utf8(const std::string& text, const std::string& where) {
  if (!is_utf8(text)) fail(Exit::usage, "{}: is not UTF-8. Save or write it in that encoding", where);
}

std::string line_of(const YAML::Mark& mark, const std::string& file) {
  return mark.is_null() ? file : format("{}:{}", file, mark.line + 1);
}

class Converter {
 public:
  // With `lines`, locations are file:line; otherwise `file` is the location.
  Converter(const std::string& file, bool lines) : file_(file), lines_(lines) {}

  Yaml convert(const YAML::Node& node, const std::string& where, int depth = 0) {
    if (depth > deepest || ++values_ > most_values)
      fail(Exit::usage, "{}: nested too deeply or too large for an experiment. An alias may contain itself",
           where);
    Yaml value;
    value.where = where;
    if (node.IsScalar()) {
      value.kind = Yaml::Kind::scalar;
      value.text = node.Scalar();
      value.quoted = node.Tag() == "!";
    } else if (node.IsSequence()) {
      value.kind = Yaml::Kind::list;
      for (const YAML::Node& item : node) value.items.push_back(convert(item, place(item), depth + 1));
    } else if (node.IsMap()) {
      value.kind = Yaml::Kind::map;
      for (const auto& entry : node) add_entry(value, entry.first, entry.second, depth);
    }
    return value;
  }

  std::string place(const YAML::Node& node) const { return lines_ ? line_of(node.Mark(), file_) : file_; }

 private:
  void add_entry(Yaml& map, const YAML::Node& key, const YAML::Node& node, int depth) {
    const std::string where = place(key);
    if (!key.IsScalar()) fail(Exit::usage, "{}: a key must be a plain word", where);
    if (const Yaml* earlier = map.find(key.Scalar()))
      fail(Exit::usage, "{}: '{}' is listed twice (first at {}). Remove one", where, key.Scalar(),
           earlier->where);
    map.entries.push_back({key.Scalar(), convert(node, where, depth + 1)});
  }

  std::string file_;
  bool lines_;
  int values_ = 0;
};

}  // namespace

const Yaml* Yaml::find(std::string_view key) const {
  for (const auto& [name, value] : entries) {
    if (name == key) return &value;
  }
  return nullptr;
}

Yaml parse_yaml(const std::string& text, const std::string& file) {
  if (text.find('\0') != text.npos)
    fail(Exit::usage, "{}: is not a text file. Expected an experiment in YAML", file);
  std::size_t line = 0;
  for (const std::string& one : split(text, '\n')) check_utf8(one, format("{}:{}", file, ++line));
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    Converter converter(file, true);
    if (documents.empty()) {
      Yaml nothing;
      nothing.where = file;
      return nothing;
    }
    if (documents.size() > 1)
      fail(Exit::usage, "{}: a second YAML document begins here. An experiment file contains one",
           converter.place(documents[1]));
    return converter.convert(documents[0], converter.place(documents[0]));
  } catch (const YAML::Exception& error) {
    fail(Exit::usage, "{}: this is not valid YAML: {}", line_of(error.mark, file), error.msg);
  }
}

Yaml parse_yaml_value(const std::string& text, const std::string& where) {
  check_utf8(text, format("{}: '{}'", where, text));
  try {
    return Converter(where, false).convert(YAML::Load(text), where);
  } catch (const YAML::Exception& error) {
    fail(Exit::usage, "{}: '{}' is not valid YAML: {}", where, text, error.msg);
  }
}

Yaml yaml_text(const std::string& text, const std::string& where) {
  check_utf8(text, format("{}: '{}'", where, text));
  Yaml value;
  value.kind = Yaml::Kind::scalar;
  value.text = text;
  value.quoted = true;
  value.where = where;
  return value;
}

std::string describe(const Yaml& value) {
  std::string text;
  switch (value.kind) {
    case Yaml::Kind::nothing:
      return "nothing";
    case Yaml::Kind::scalar:
      text = "'" + value.text + "'";
      break;
    case Yaml::Kind::list:
      for (const Yaml& item : value.items) text += (text.empty() ? "" : ", ") + describe(item);
      text = "the list [" + text + "]";
      break;
    case Yaml::Kind::map:
      for (const auto& [key, entry] : value.entries)
        text += (text.empty() ? "" : ", ") + key + ": " + describe(entry);
      text = "the map {" + text + "}";
      break;
  }
  return text.size() > 80 ? text.substr(0, 77) + "..." : text;
}

std::string one_line(const Yaml& value) {
  std::vector<std::string> parts;
  for (const Yaml& item : value.items) parts.push_back(one_line(item));
  for (const auto& [key, entry] : value.entries) parts.push_back(key + ": " + one_line(entry));
  switch (value.kind) {
    case Yaml::Kind::list:
      return "[" + join(parts, ", ") + "]";
    case Yaml::Kind::map:
      return "{" + join(parts, ", ") + "}";
    default:
      return value.text;
  }
}

std::string yaml_scalar(const std::string& text) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-";
  const bool reserved = text.empty() || text[0] == '-' || text == "null" || text == "Null" ||
                        text == "NULL" || text == "true" || text == "false";
  if (!reserved && text.find_first_not_of(plain) == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      quoted += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20)
      quoted += format("\\x{:02x}", static_cast<int>(c));
    else
      quoted += c;
  }
  return quoted + "\"";
}

std::string yaml_library() {
  return "yaml-cpp " VOXSWAP_YAML_CPP_VERSION;
}

}  // namespace voxswap::experiments
