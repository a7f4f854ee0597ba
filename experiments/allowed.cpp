#include "experiments/allowed.h"

#include "base/units.h"

namespace voxswap::experiments::allowed {

namespace {

Json limited(Json schema, const Range& range) {
  const auto limit = [&](const char* closed, const char* open, bool without, double value) {
    const bool is_whole =
        schema["type"] == "integer" || value == static_cast<double>(static_cast<std::int64_t>(value));
    const Json number = is_whole ? Json(static_cast<std::int64_t>(value)) : Json(value);
    schema[without ? open : closed] = number;
  };
  if (range.lowest > -any_size) limit("minimum", "exclusiveMinimum", range.without_lowest, range.lowest);
  if (range.highest < any_size) limit("maximum", "exclusiveMaximum", range.without_highest, range.highest);
  return schema;
}

Json quantity(const std::string& units) {
  return text_like(R"(^\s*([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*()" + units + R"()\s*$)");
}

}  // namespace

Json number(const Range& range) {
  return limited({{"type", "number"}}, range);
}

Json whole(const Range& range) {
  return limited({{"type", "integer"}}, range);
}

Json text() {
  return {{"type", {"string", "number", "boolean"}}, {"minLength", 1}};
}

Json text_like(const std::string& pattern) {
  return {{"type", "string"}, {"pattern", pattern}};
}

// A word that YAML reads as a number may stand there without quotes as well.
Json choice(const std::vector<std::string>& words) {
  Json list = Json::array();
  for (const std::string& word : words) {
    if (const auto number = parse_number<std::int64_t>(word)) list.push_back(*number);
    list.push_back(word);
  }
  return {{"enum", std::move(list)}};
}

Json on_off() {
  return {{"type", "boolean"}};
}

Json size() {
  return quantity("B|KiB|MiB|GiB|TiB");
}

Json rate() {
  return quantity("MB/s|GB/s");
}

Json any_of(std::vector<Json> schemas) {
  Json list = Json::array();
  for (Json& schema : schemas) list.push_back(std::move(schema));
  return {{"anyOf", std::move(list)}};
}

Json list_of(const Json& item, std::size_t least, std::size_t most) {
  Json schema = {{"type", "array"}, {"items", item}, {"minItems", least}};
  if (most < std::numeric_limits<std::size_t>::max()) schema["maxItems"] = most;
  return schema;
}

Json set_of(const Json& item) {
  Json schema = list_of(item, 1);
  schema["uniqueItems"] = true;
  return schema;
}

Json map_of(const Json& entry, std::size_t least) {
  return {{"type", "object"}, {"additionalProperties", entry}, {"minProperties", least}};
}

Json record(const std::vector<std::pair<std::string, Json>>& entries,
            const std::vector<std::string>& required, std::size_t least) {
  Json properties = Json::object();
  for (const auto& [name, schema] : entries) properties[name] = schema;
  Json schema = {{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty()) schema["required"] = required;
  if (least > 0) schema["minProperties"] = least;
  return schema;
}

}  // namespace voxswap::experiments::allowed
