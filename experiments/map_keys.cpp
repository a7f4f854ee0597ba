#include "experiments/map_keys.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "experiments/value_types.h"

namespace voxswap::experiments::value_types {

namespace {

constexpr Range label_values{1, 32767};  // valid in label maps; 0 is background

Json automatic() {
  return allowed::choice({"auto"});
}

// A map with names accepted by check_name().
Json named(const Json& entry) {
  Json map = allowed::map_of(entry, 1);
  map["propertyNames"] = {{"pattern", "^[a-z0-9_]+$"}};
  return map;
}

bool is_auto(const Yaml& value) {
  return value.kind == Yaml::Kind::scalar && value.text == "auto";
}

// Names become CSV cells, file names and plot labels.
void check_name(const std::string& name, const Yaml& value, const std::string& path) {
  const bool is_ascii = std::all_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x80; });
  const std::string proper = is_ascii ? snake_case(name) : "";  // without "ö", "ödem" is another word
  const bool fits = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return c == '_' || std::isdigit(c) != 0 || std::islower(c) != 0;
  });
  if (name.empty() || !fits)
    fail(Exit::usage, "{}: {}: the name '{}' must consist of lower-case letters, digits and _{}", value.where,
         path, name, proper.empty() ? "" : ": write '" + proper + "'");
}

std::vector<int> read_values(const Yaml& value, const std::string& path) {
  std::vector<int> result;
  const std::vector<Yaml> one{value};
  for (const Yaml& item : value.kind == Yaml::Kind::list ? value.items : one) {
    const int label = static_cast<int>(read_whole(item, path, label_values));
    if (std::find(result.begin(), result.end(), label) != result.end())
      fail(Exit::usage, "{}: {}: the label value {} is listed twice", item.where, path, label);
    result.push_back(label);
  }
  if (result.empty()) wrong(value, path, "one or more label values");
  return result;
}

std::string print_values(const std::vector<int>& values) {
  std::vector<std::string> parts;
  for (const int value : values) parts.push_back(std::to_string(value));
  return "[" + join(parts, ", ") + "]";
}

void read_labels(const Yaml& value, const std::string& path, data::Labels& labels) {
  labels.clear();
  if (is_auto(value)) return;
  if (value.kind != Yaml::Kind::map || value.entries.empty())
    wrong(value, path, "auto or a map such as {necrosis: 1, oedema: 2, enhancing: 4}");
  for (const auto& [name, entry] : value.entries) {
    check_name(name, entry, path);
    const int label = static_cast<int>(read_whole(entry, path + "." + name, label_values));
    for (const auto& [other, used] : labels) {
      if (used == label)
        fail(Exit::usage, "{}: {}: '{}' and '{}' both have the value {}", entry.where, path, other, name,
             label);
    }
    labels.emplace_back(name, label);
  }
}

void read_regions(const Yaml& value, const std::string& path, data::Regions& regions) {
  regions.clear();
  if (is_auto(value)) return;
  if (value.kind != Yaml::Kind::map || value.entries.empty())
    wrong(value, path, "auto or a map such as {whole_tumor: [1, 2, 4], enhancing_tumor: [4]}");
  for (const auto& [name, entry] : value.entries) {
    check_name(name, entry, path);
    regions.emplace_back(name, read_values(entry, path + "." + name));
  }
}

void read_modalities(const Yaml& value, const std::string& path, std::vector<std::string>& modalities) {
  modalities.clear();
  if (is_auto(value)) return;
  if (value.kind != Yaml::Kind::list || value.items.empty())
    wrong(value, path, "auto or a list such as [t1, t1ce, t2, flair]");
  for (const Yaml& item : value.items) {
    const std::string name = read_text(item, path);
    if (std::find(modalities.begin(), modalities.end(), name) != modalities.end())
      fail(Exit::usage, "{}: {}: '{}' is listed twice", item.where, path, name);
    modalities.push_back(name);
  }
}

void read_patterns(const Yaml& value, const std::string& path, pipeline::Experiment& experiment) {
  if (value.kind != Yaml::Kind::map)
    wrong(value, path, "a map such as {flair: \"{case}/Flair*.nii.gz\", truth: \"{case}/truth.nii.gz\"}");
  experiment.data.files.clear();
  std::vector<std::string> order;
  for (const auto& [name, entry] : value.entries) {
    experiment.data.files[name] = read_text(entry, path + "." + name);
    if (name != "truth") order.push_back(name);
  }
  // By default, channels are in the order of the patterns in the file.
  if (experiment.data.modalities.empty()) experiment.data.modalities = order;
}

std::string print_patterns(const pipeline::Experiment& experiment) {
  std::string text;
  for (const std::string& channel : channel_order(experiment))
    text += (text.empty() ? "" : ", ") + yaml_scalar(channel) + ": " +
            yaml_scalar(experiment.data.files.at(channel));
  return "{" + text + "}";
}

}  // namespace

Key modalities(const std::string& path) {
  return {
      path,
      "auto | a list of names",
      "Input channels in order (auto: all that the layout defines)",
      [=](const Yaml& value, pipeline::Experiment& o) { read_modalities(value, path, o.data.modalities); },
      [](const pipeline::Experiment& o) {
        std::vector<std::string> names;
        for (const std::string& name : o.data.modalities) names.push_back(yaml_scalar(name));
        return names.empty() ? "auto" : "[" + join(names, ", ") + "]";
      },
      Key::Shape::value,
      allowed::any_of({automatic(), allowed::set_of(allowed::text())})};
}

Key file_patterns(const std::string& path) {
  return {path,
          "a map of patterns",
          "File pattern per channel and for the truth, with {case} and * (DICOM: series descriptions)",
          [=](const Yaml& value, pipeline::Experiment& o) { read_patterns(value, path, o); },
          print_patterns,
          Key::Shape::map_of_text,
          allowed::map_of(allowed::text(), 0)};
}

Key labels(const std::string& path) {
  return {path,
          "auto | a map of name: value",
          "Foreground labels, one output channel each (auto: from the layout)",
          [=](const Yaml& value, pipeline::Experiment& o) { read_labels(value, path, o.data.labels); },
          [](const pipeline::Experiment& o) {
            std::string text;
            for (const auto& [name, value] : o.data.labels)
              text += format("{}{}: {}", text.empty() ? "" : ", ", name, value);
            return text.empty() ? "auto" : "{" + text + "}";
          },
          Key::Shape::map,
          allowed::any_of({automatic(), named(allowed::whole(label_values))})};
}

Key regions(const std::string& path) {
  return {path,
          "auto | a map of name: [values]",
          "Regions to score, as lists of label values (auto: from the layout)",
          [=](const Yaml& value, pipeline::Experiment& o) { read_regions(value, path, o.data.regions); },
          [](const pipeline::Experiment& o) {
            std::string text;
            for (const auto& [name, values] : o.data.regions)
              text += format("{}{}: {}", text.empty() ? "" : ", ", name, print_values(values));
            return text.empty() ? "auto" : "{" + text + "}";
          },
          Key::Shape::map,
          allowed::any_of(
              {automatic(), named(allowed::any_of({allowed::whole(label_values),
                                                   allowed::set_of(allowed::whole(label_values))}))})};
}

}  // namespace voxswap::experiments::value_types

namespace voxswap::experiments {

std::vector<std::string> channel_order(const pipeline::Experiment& experiment) {
  std::vector<std::string> order;
  for (const std::string& name : experiment.data.modalities) {
    if (experiment.data.files.count(name)) order.push_back(name);
  }
  for (const auto& [name, pattern] : experiment.data.files) {
    if (std::find(order.begin(), order.end(), name) == order.end()) order.push_back(name);
  }
  return order;
}

}  // namespace voxswap::experiments
