#include "experiments/settings.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "experiments/keys.h"

namespace voxswap::experiments {

namespace {

bool is_section(const std::string& path) {
  return std::any_of(keys().begin(), keys().end(),
                     [&](const Key& key) { return key.path.starts_with(path + "."); });
}

// The map-valued key that contains the entry `path`: data.labels for data.labels.oedema.
const Key* map_key(const std::string& path) {
  for (const Key& key : keys()) {
    const bool map = key.shape == Key::Shape::map || key.shape == Key::Shape::map_of_text;
    if (map && path.starts_with(key.path + ".")) return &key;
  }
  return nullptr;
}

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('.') + 1);
}

// The most likely intended path: similar spelling, or the same name in another section.
std::string suggestion(const std::string& path) {
  std::vector<std::string> paths, words;
  for (const Key& key : keys()) {
    for (std::size_t dot = key.path.find('.'); dot != std::string::npos; dot = key.path.find('.', dot + 1))
      paths.push_back(key.path.substr(0, dot));
    paths.push_back(key.path);
    words.push_back(last_part(key.path));
  }
  const std::string word = nearest(last_part(path), words);
  if (!word.empty() && path.find('.') == path.npos) {
    for (const Key& key : keys()) {
      if (last_part(key.path) == word) return key.path;
    }
  }
  const std::string near = nearest(path, paths);
  if (!near.empty()) return near;
  for (const Key& key : keys()) {
    if (!word.empty() && last_part(key.path) == word) return key.path;
  }
  return "";
}

[[noreturn]] void unknown(const std::string& path, const std::string& where) {
  const std::string guess = suggestion(path);
  fail(Exit::usage, "{}: unknown key '{}'. {}", where, path,
       guess.empty() ? "`voxswap run --help` lists the keys" : "Did you mean '" + guess + "'?");
}

std::string keys_of_section(const std::string& path) {
  std::vector<std::string> names;
  for (const Key& key : keys()) {
    if (!key.path.starts_with(path + ".")) continue;
    const std::string rest = key.path.substr(path.size() + 1);
    const std::string name = rest.substr(0, rest.find('.'));
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return join(names, ", ");
}

void warn_of_former_name(const std::string& path, const std::string& where) {
  static std::set<std::string> known;
  if (known.insert(path).second) log::warn("{}: '{}' is now called '{}'", where, path, current_name(path));
}

void collect(const Yaml& map, const std::string& prefix, Settings& settings, bool replace);

// Adds an entry of a file or an override: the value of a key, or a section of entries.
void collect_entry(const std::string& written, const Yaml& value, Settings& settings, bool replace) {
  const std::string& path = current_name(written);
  if (path != written) warn_of_former_name(written, value.where);
  if (find_key(path)) {
    const auto earlier = settings.find(path);
    if (earlier != settings.end() && !replace)
      fail(Exit::usage, "{}: '{}' is set twice (first at {}). Remove one", value.where, path,
           earlier->second.where);
    settings[path] = value;
  } else if (!is_section(path)) {
    unknown(path, value.where);
  } else if (value.kind == Yaml::Kind::map) {
    collect(value, path + ".", settings, replace);
  } else if (value.kind == Yaml::Kind::scalar && find_key(path + ".preset")) {
    collect_entry(path + ".preset", value, settings, replace);  // augment: nnunet
  } else if (value.kind != Yaml::Kind::nothing) {
    fail(Exit::usage, "{}: {}: expected a section with the keys {}, found {}", value.where, path,
         keys_of_section(path), describe(value));
  }
}

void collect(const Yaml& map, const std::string& prefix, Settings& settings, bool replace) {
  for (const auto& [name, value] : map.entries) collect_entry(prefix + name, value, settings, replace);
}

}  // namespace

const std::string& current_name(const std::string& path) {
  static const std::map<std::string, std::string> names = {{"training.weights", "network.init"},
                                                           {"memory.pieces", "memory.slabs"}};
  const auto found = names.find(path);
  return found == names.end() ? path : found->second;
}

Settings read_settings(const Yaml& file) {
  Settings settings;
  if (file.kind == Yaml::Kind::nothing) return settings;
  if (file.kind != Yaml::Kind::map)
    fail(Exit::usage, "{}: expected an experiment, which is a map of keys such as `name: study`, found {}",
         file.where, describe(file));
  for (const auto& [name, value] : file.entries) {
    if (name != "ran_with") collect_entry(name, value, settings, false);  // written by a run about itself
  }
  return settings;
}

Yaml setting_value(const std::string& path, const std::string& text, const std::string& where) {
  const Key* key = find_key(current_name(path));
  const Key* map = key ? nullptr : map_key(path);
  // Paths and patterns are literal text: {case} is not a YAML map.
  const bool literal =
      (key && key->shape == Key::Shape::text) || (map && map->shape == Key::Shape::map_of_text);
  return literal ? yaml_text(text, where) : parse_yaml_value(text, where);
}

void assign_setting(Settings& settings, const std::string& path, const Yaml& value) {
  const Key* map = find_key(current_name(path)) ? nullptr : map_key(path);
  if (!map) return collect_entry(path, value, settings, true);

  Yaml& whole = settings[map->path];
  if (whole.kind != Yaml::Kind::map) whole = Yaml{};
  whole.kind = Yaml::Kind::map;
  whole.where = value.where;
  const std::string name = path.substr(map->path.size() + 1);
  for (auto& [other, entry] : whole.entries) {
    if (other == name) {
      entry = value;
      return;
    }
  }
  whole.entries.push_back({name, value});
}

std::pair<std::string, std::string> parse_assignment(const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  const std::string path = trim(assignment.substr(0, equals));
  if (equals == assignment.npos || path.empty())
    fail(Exit::usage, "{}: '{}' is not an override. Expected key=value, such as preprocess.resolution=144",
         on_the_line, assignment);
  return {path, assignment.substr(equals + 1)};
}

void override_setting(Settings& settings, const std::string& assignment) {
  const auto [path, text] = parse_assignment(assignment);
  assign_setting(settings, path, setting_value(path, text, on_the_line));
}

}  // namespace voxswap::experiments
