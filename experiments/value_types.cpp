#include "experiments/value_types.h"

#include <cmath>

#include "base/error.h"
#include "base/units.h"

namespace voxswap::experiments::value_types {

namespace {

// Parses an unquoted scalar completely as a number.
template <class Number>
std::optional<Number> parse(const Yaml& value) {
  if (value.kind != Yaml::Kind::scalar || value.quoted) return std::nullopt;
  return parse_number<Number>(value.text);
}

bool within(double value, const Range& range) {
  return (range.without_lowest ? value > range.lowest : value >= range.lowest) &&
         (range.without_highest ? value < range.highest : value <= range.highest);
}

// Parses a scalar with `parse`; its errors get the location and key prepended.
template <class Parse>
auto read_quantity(const Yaml& value, const std::string& path, const std::string& expected, Parse parse) {
  if (value.kind != Yaml::Kind::scalar) wrong(value, path, expected);
  decltype(parse(value.text)) quantity{};
  try {
    quantity = parse(value.text);
  } catch (const Error& error) {
    fail(Exit::usage, "{}: {}: {}", value.where, path, error.what());
  }
  if (quantity <= 0) wrong(value, path, expected);
  return quantity;
}

}  // namespace

void wrong(const Yaml& value, const std::string& path, const std::string& expected) {
  fail(Exit::usage, "{}: {}: expected {}, found {}", value.where, path, expected,
       voxswap::experiments::describe(value));
}

std::string describe(const Range& range) {
  std::string text = (range.without_lowest ? "above " : "of at least ") + number(range.lowest);
  if (range.highest < any_size)
    text += (range.without_highest ? " and below " : " and at most ") + number(range.highest);
  return text;
}

std::int64_t read_whole(const Yaml& value, const std::string& path, const Range& range) {
  const auto result = parse<std::int64_t>(value);
  if (!result || !within(static_cast<double>(*result), range))
    wrong(value, path, "a whole number " + describe(range));
  return *result;
}

std::uint64_t read_seed(const Yaml& value, const std::string& path) {
  const auto result = parse<std::uint64_t>(value);
  if (!result) wrong(value, path, "a whole number of at least 0");
  return *result;
}

double read_number(const Yaml& value, const std::string& path, const Range& range) {
  const auto result = parse<double>(value);
  if (!result || !std::isfinite(*result) || !within(*result, range))
    wrong(value, path, "a number " + describe(range));
  return *result;
}

bool read_switch(const Yaml& value, const std::string& path) {
  if (value.kind == Yaml::Kind::scalar && !value.quoted && (value.text == "true" || value.text == "false"))
    return value.text == "true";
  wrong(value, path, "true or false");
}

std::string read_text(const Yaml& value, const std::string& path) {
  if (value.kind != Yaml::Kind::scalar || value.text.empty()) wrong(value, path, "a text");
  return value.text;
}

std::string read_choice(const Yaml& value, const std::string& path, const Choices& choices) {
  if (value.kind == Yaml::Kind::scalar) {
    for (const std::string& name : choices) {
      if (name == value.text) return name;
    }
    const std::string guess = nearest(value.text, choices);
    if (!guess.empty())
      fail(Exit::usage, "{}: {}: expected one of {}, found '{}'. Did you mean '{}'?", value.where, path,
           join(choices, ", "), value.text, guess);
  }
  wrong(value, path, "one of " + join(choices, ", "));
}

std::int64_t read_size(const Yaml& value, const std::string& path, const std::string& expected) {
  return read_quantity(value, path, expected, parse_bytes);
}

double read_rate(const Yaml& value, const std::string& path, const std::string& expected) {
  return read_quantity(value, path, expected, parse_rate);
}

bool is_word(const Yaml& value, std::string_view word) {
  return value.kind == Yaml::Kind::scalar && value.text == word;
}

std::string size_text(std::int64_t bytes) {
  if (bytes % (1 << 30) == 0) return format("{}GiB", bytes >> 30);
  if (bytes % (1 << 20) == 0) return format("{}MiB", bytes >> 20);
  return format("{}B", bytes);
}

}  // namespace voxswap::experiments::value_types

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

// YAML may read a word as a number, so both forms are accepted.
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
