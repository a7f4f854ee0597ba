#include "experiments/sweep_draft.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "experiments/experiment.h"
#include "experiments/keys.h"
#include "experiments/sweep_words.h"
#include "experiments/value_types.h"

namespace voxswap::experiments {

namespace {

constexpr std::size_t most_cells = 10000;

// A list contains values, a map has labelled values; anything else is a single value.
std::vector<SweptValue> values_of(const std::string& path, const Yaml& entry) {
  std::vector<SweptValue> values;
  if (entry.kind == Yaml::Kind::list)
    for (const Yaml& item : entry.items) values.push_back({label_of(item), item});
  else if (entry.kind == Yaml::Kind::map)
    for (const auto& [label, value] : entry.entries) values.push_back({label, value});
  else
    values.push_back({label_of(entry), entry});
  if (values.empty() || entry.kind == Yaml::Kind::nothing)
    fail(Exit::usage, "{}: sweep.{}: expected at least one value, found {}", entry.where, path,
         describe(entry));
  return values;
}

std::vector<SweptValue> values_on_the_line(const std::string& path, const std::string& text) {
  std::vector<SweptValue> values;
  for (const std::string& value_text : split_values(text)) {
    const bool question = is_sweep_question(path);
    const Yaml value =
        question ? parse_yaml_value(value_text, on_the_line) : setting_value(path, value_text, on_the_line);
    values.push_back({label_of(value), value});
  }
  return values;
}

Axis* find_axis(Draft& draft, const std::string& path) {
  for (Axis& axis : draft.axes)
    if (axis.path == path) return &axis;
  return nullptr;
}

// Suggests an entry of `sweep:` for a misspelt one; assign_setting() suggests keys.
void check_word(const std::string& path, const std::string& where) {
  const bool names_key = std::any_of(keys().begin(), keys().end(),
                                     [&](const Key& key) { return is_among(path, split(key.path, '.')); });
  if (names_key || path.find('.') != path.npos) return;
  const std::string guess = nearest(path, sweep_words());
  if (!guess.empty())
    fail(Exit::usage, "{}: unknown key 'sweep.{}'. Did you mean 'sweep.{}'?", where, path, guess);
}

void set_fixed(Draft& draft, const std::string& path, const Yaml& value) {
  if (is_sweep_question(path) || is_sweep_statement(path)) {
    draft.stated[path] = value;
    return;
  }
  check_word(path, value.where);
  assign_setting(draft.base, path, value);
}

void read_file_part(Draft& draft) {
  const auto found = draft.base.find("sweep");
  if (found == draft.base.end()) return;
  const Yaml sweep = found->second;
  draft.base.erase("sweep");
  if (sweep.kind == Yaml::Kind::nothing) return;
  if (sweep.kind != Yaml::Kind::map)
    value_types::wrong(sweep, "sweep", "a map such as {preprocess.resolution: [112, 144]}");
  for (const auto& [path, entry] : sweep.entries) {
    if (is_swept(path, entry))
      draft.axes.push_back({path, values_of(path, entry)});
    else
      set_fixed(draft, path, entry);
  }
}

void read_line_part(Draft& draft, const std::string& argument) {
  auto [path, text] = parse_assignment(argument);
  if (path.starts_with("sweep.")) path.erase(0, 6);
  if (is_sweep_statement(path)) return set_fixed(draft, path, parse_yaml_value(text, on_the_line));
  const std::vector<SweptValue> values = values_on_the_line(path, text);
  if (Axis* axis = find_axis(draft, path))
    axis->values = values;
  else if (values.size() > 1)
    draft.axes.push_back({path, values});
  else
    set_fixed(draft, path, values[0].value);
}

void check_axes(const Draft& draft) {
  if (draft.axes.empty())
    fail(Exit::usage,
         "nothing to sweep over. Give a key several values, such as preprocess.resolution=112,144, or add a "
         "`sweep:` to the file");
  std::size_t cells = 1;
  for (const Axis& axis : draft.axes) {
    if (axis.path == "name" || axis.path.starts_with("output"))
      fail(Exit::usage,
           "{}: sweep: {}: cannot be swept, because each cell has a name and a folder of its own",
           axis.values[0].value.where, axis.path);
    cells *= axis.values.size();
    if (cells > most_cells)
      fail(Exit::usage, "sweep: more than {}. List fewer values", counted(most_cells, "combination"));
  }
}

}  // namespace

std::vector<std::string> split_values(const std::string& text) {
  std::vector<std::string> values(1);
  int depth = 0;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth <= 0) {
      values.emplace_back();
      continue;
    }
    values.back() += c;
  }
  for (std::string& value : values) {
    value = trim(value);
    if (value.size() >= 2 && (value[0] == '"' || value[0] == '\'') &&
        value.find(value[0], 1) == value.size() - 1)
      value = value.substr(1, value.size() - 2);
  }
  return values;
}

std::string label_of(const Yaml& value) {
  std::vector<std::string> parts;
  switch (value.kind) {
    case Yaml::Kind::nothing:
      return "none";
    case Yaml::Kind::scalar:
      return value.text;
    case Yaml::Kind::list: {
      bool numbers = true;
      for (const Yaml& item : value.items) {
        parts.push_back(label_of(item));
        numbers =
            numbers && !parts.back().empty() && std::isdigit(static_cast<unsigned char>(parts.back()[0]));
      }
      return join(parts, numbers ? "x" : "+");
    }
    case Yaml::Kind::map:
      for (const auto& [name, entry] : value.entries) parts.push_back(label_of(entry));
      return join(parts, "_");
  }
  return "";
}

Draft read_draft(const fs::path& file, const std::vector<std::string>& arguments, const std::string& out) {
  Draft draft;
  draft.base = load_settings(file);
  read_file_part(draft);
  for (const std::string& argument : arguments) read_line_part(draft, argument);
  if (!out.empty()) draft.base["output.dir"] = yaml_text(out, on_the_line);
  check_axes(draft);
  return draft;
}

}  // namespace voxswap::experiments
