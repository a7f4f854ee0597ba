// Validates a value against a JSON Schema of draft 7, for the keywords that our schema uses. Any other
// keyword is an error, so that nothing goes unchecked. bench/check_schema.py does the same with Python's
// jsonschema.
#pragma once

#include <algorithm>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>

#include "base/json.h"

namespace voxswap::experiments {

class SchemaCheck {
 public:
  explicit SchemaCheck(const Json& schema) : root_(schema) {}
  bool accepts(const Json& value) const { return accepts(root_, value); }

 private:
  bool accepts(const Json& schema, const Json& value) const {
    if (schema.is_boolean()) return schema.get<bool>();
    if (const auto reference = schema.find("$ref"); reference != schema.end())
      return accepts(root_.at("definitions").at(reference->get<std::string>().substr(14)), value);
    for (const auto& [word, asked] : schema.items())
      if (!holds(word, asked, schema, value)) return false;
    return true;
  }

  static bool is_type(const std::string& type, const Json& value) {
    if (type == "integer")
      return value.is_number_integer() ||
             (value.is_number() &&
              value.get<double>() == static_cast<double>(static_cast<std::int64_t>(value.get<double>())));
    if (type == "number") return value.is_number();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "null") return value.is_null();
    throw std::runtime_error("type " + type);
  }
  static bool matches(const std::string& pattern, const std::string& text) {
    return std::regex_search(text, std::regex(pattern));
  }
  bool accepts_each(const Json& schema, const Json& object) const {  // properties, patternProperties and
                                                                     // additionalProperties
    static const Json nothing = Json::object();
    const Json properties = schema.value("properties", nothing),
               patterns = schema.value("patternProperties", nothing);
    for (const auto& [name, value] : object.items()) {
      bool known = properties.contains(name);
      if (known && !accepts(properties.at(name), value)) return false;
      for (const auto& [pattern, of] : patterns.items()) {
        if (!matches(pattern, name)) continue;
        known = true;
        if (!accepts(of, value)) return false;
      }
      if (!known && schema.contains("additionalProperties") &&
          !accepts(schema.at("additionalProperties"), value))
        return false;
      if (schema.contains("propertyNames") && !accepts(schema.at("propertyNames"), name)) return false;
    }
    return true;
  }
  bool any(const Json& schemas, const Json& value) const {
    return std::any_of(schemas.begin(), schemas.end(), [&](const Json& one) { return accepts(one, value); });
  }

  bool holds(const std::string& word, const Json& asked, const Json& schema, const Json& value) const {
    static const std::set<std::string> said = {"$schema", "title", "description", "default", "definitions"};
    static const std::set<std::string> of_objects = {"properties", "patternProperties",
                                                     "additionalProperties", "propertyNames"};
    if (said.contains(word)) return true;
    if (of_objects.contains(word)) return !value.is_object() || accepts_each(schema, value);
    if (word == "type") {
      const Json types = asked.is_array() ? asked : Json::array({asked});
      return std::any_of(types.begin(), types.end(), [&](const Json& type) { return is_type(type, value); });
    }
    if (word == "enum") return std::find(asked.begin(), asked.end(), value) != asked.end();
    if (word == "const") return asked == value;
    if (word == "anyOf") return any(asked, value);
    if (word == "minimum") return !value.is_number() || value.get<double>() >= asked.get<double>();
    if (word == "maximum") return !value.is_number() || value.get<double>() <= asked.get<double>();
    if (word == "exclusiveMinimum") return !value.is_number() || value.get<double>() > asked.get<double>();
    if (word == "exclusiveMaximum") return !value.is_number() || value.get<double>() < asked.get<double>();
    if (word == "minLength")
      return !value.is_string() || value.get<std::string>().size() >= asked.get<std::size_t>();
    if (word == "pattern") return !value.is_string() || matches(asked, value);
    if (word == "items")
      return !value.is_array() ||
             std::all_of(value.begin(), value.end(), [&](const Json& item) { return accepts(asked, item); });
    if (word == "contains")
      return !value.is_array() ||
             std::any_of(value.begin(), value.end(), [&](const Json& item) { return accepts(asked, item); });
    if (word == "minItems") return !value.is_array() || value.size() >= asked.get<std::size_t>();
    if (word == "maxItems") return !value.is_array() || value.size() <= asked.get<std::size_t>();
    if (word == "minProperties") return !value.is_object() || value.size() >= asked.get<std::size_t>();
    if (word == "uniqueItems") {
      for (std::size_t i = 0; value.is_array() && i < value.size(); ++i)
        if (std::count(value.begin(), value.end(), value[i]) > 1) return false;
      return true;
    }
    if (word == "required")
      return !value.is_object() || std::all_of(asked.begin(), asked.end(), [&](const Json& name) {
        return value.contains(name.get<std::string>());
      });
    throw std::runtime_error("the check knows no " + word);
  }

  Json root_;
};

}  // namespace voxswap::experiments
