#include "experiments/schema.h"

#include "base/text.h"
#include "experiments/keys.h"
#include "experiments/sweep_draft.h"
#include "experiments/sweep_words.h"
#include "experiments/value_types.h"

namespace voxswap::experiments {

namespace {

Json reference(const std::string& path) {
  return {{"$ref", "#/definitions/" + path}};
}

// Converts a value of the resolved file to JSON.
Json value_of(const Yaml& yaml) {
  if (yaml.kind == Yaml::Kind::list) {
    Json list = Json::array();
    for (const Yaml& item : yaml.items) list.push_back(value_of(item));
    return list;
  }
  if (yaml.kind == Yaml::Kind::map) {
    Json map = Json::object();
    for (const auto& [name, entry] : yaml.entries) map[name] = value_of(entry);
    return map;
  }
  if (yaml.kind == Yaml::Kind::nothing) return nullptr;
  const Json read = yaml.quoted ? Json() : parse_json(yaml.text);
  return read.is_number() || read.is_boolean() ? read : Json(yaml.text);
}

Json definition_of(const Key& key) {
  Json schema = key.allowed;
  schema["description"] = key.meaning + " (" + key.expected + ")";
  if (key.path != "name")
    schema["default"] = value_of(parse_yaml_value(key.print(default_experiment()), key.path));
  return schema;
}

// Adds a key to its section "a.b" in the definitions, and that section to its parent.
void add_to_section(Json& definitions, const std::string& path) {
  const std::size_t dot = path.rfind('.');
  const std::string section = dot == path.npos ? "" : path.substr(0, dot);
  const bool is_new = !section.empty() && !definitions.contains(section);
  Json& properties = section.empty() ? definitions[""]["properties"] : definitions[section]["properties"];
  properties[path.substr(dot == path.npos ? 0 : dot + 1)] = reference(path);
  if (is_new) add_to_section(definitions, section);
}

// A section may be empty; one with a preset may be just the name of a preset.
void close_section(Json& section, const std::string& path) {
  Json properties = std::move(section["properties"]);
  const bool preset = properties.contains("preset");
  section = {
      {"type", {"object", "null"}}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (preset) section = allowed::any_of({section, reference(path + ".preset")});
}

// A value, a list of values, or a map from labels to values.
Json swept(const Json& value) {
  return allowed::any_of({value, allowed::list_of(value, 1), allowed::map_of(value, 1)});
}

Json questions() {
  const Json whole = allowed::whole({1, 1e6});
  return {{"as", allowed::text()}, {"largest", allowed::choice({"resolution", "batch", "depth"})},
          {"devices", whole},      {"devices_per_link", whole},
          {"steps", whole},        {"trace", allowed::on_off()}};
}

Json statements() {
  const Json columns = allowed::any_of({allowed::text(), allowed::list_of(allowed::text(), 1)});
  return {{"command", allowed::choice({"run", "bench", "plan"})},
          {"title", allowed::text()},
          {"plot",
           allowed::record({{"x", allowed::text()}, {"y", allowed::text()}, {"by", columns}}, {"x", "y"})},
          {"volumes", allowed::whole({1, 1e9})},
          {"stop", allowed::choice({"none", "halving"})},
          {"eta", allowed::whole({2, 100})},
          {"first_rung", allowed::number({0, 0.5})},
          {"published", allowed::list_of(allowed::map_of(allowed::text(), 1), 1)}};
}

Json sweep_schema(const Json& definitions) {
  Json properties = statements(), patterns = Json::object();
  const Json asked = questions();
  for (const auto& [word, value] : asked.items()) properties[word] = swept(value);
  for (const auto& [path, definition] : definitions.items())
    if (path != "sweep" && path != "name" && !path.starts_with("output"))
      properties[path] = swept(reference(path));
  properties[sweep_settings] = {{"type", "object"}, {"additionalProperties", {{"type", "object"}}}};
  for (const Key& key : keys())  // single entries of maps
    if (key.shape != Key::Shape::value && key.shape != Key::Shape::text && key.path != "sweep")
      patterns["^" + join(split(key.path, '.'), "\\.") + "\\."] = Json::object();
  return {{"type", {"object", "null"}},
          {"description", "keys with the values that `voxswap sweep` combines, and options of the sweep"},
          {"properties", std::move(properties)},
          {"patternProperties", std::move(patterns)},
          {"additionalProperties", false}};
}

}  // namespace

Json schema() {
  Json definitions = Json::object();
  definitions[""] = Json::object();
  for (const Key& key : keys()) {
    add_to_section(definitions, key.path);
    if (key.path != "sweep") definitions[key.path] = definition_of(key);
  }
  Json properties = definitions[""]["properties"];
  definitions.erase("");
  for (const auto& [path, definition] : definitions.items())
    if (definition.is_object() && definition.size() == 1 && definition.contains("properties"))
      close_section(definitions[path], path);
  definitions["sweep"] = sweep_schema(definitions);
  properties["ran_with"] = {{"type", "object"}, {"description", "information that a run recorded"}};
  return {{"$schema", "http://json-schema.org/draft-07/schema#"},
          {"title", "An experiment of voxswap"},
          {"type", {"object", "null"}},
          {"properties", std::move(properties)},
          {"additionalProperties", false},
          {"definitions", std::move(definitions)}};
}

}  // namespace voxswap::experiments
