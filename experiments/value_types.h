// The kinds of values of experiment keys: each function makes one row of the table in keys.cpp. A field is a
// generic lambda that returns a reference to the option, `[](auto& o) -> auto& { return o.name; }`, for both
// reading and printing.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/choice.h"
#include "base/json.h"
#include "base/text.h"
#include "experiments/key.h"

namespace voxswap::experiments {

struct Range {
  double lowest, highest;
  bool without_lowest = false, without_highest = false;
};

constexpr double any_size = 1e15;  // practically unlimited, and exact as a double

// JSON Schema of a key's valid values: editors reject the same values as the reader.
namespace allowed {

Json number(const Range& range);
Json whole(const Range& range);
Json text();  // any scalar: a name such as 12 is a number in YAML
Json text_like(const std::string& pattern);
Json choice(const std::vector<std::string>& words);
Json on_off();
Json size();  // "16GiB"
Json rate();  // "12GB/s"
Json any_of(std::vector<Json> schemas);
Json list_of(const Json& item, std::size_t least, std::size_t most = std::numeric_limits<std::size_t>::max());
Json set_of(const Json& item);  // at least one item, no duplicates
Json map_of(const Json& entry, std::size_t least);
// A map with no other entries.
Json record(const std::vector<std::pair<std::string, Json>>& entries,
            const std::vector<std::string>& required, std::size_t least = 0);

}  // namespace allowed

namespace value_types {

// Throws Exit::usage: "study.yaml:3: training.epochs: expected a whole number of at least 1, found 'many'".
[[noreturn]] void wrong(const Yaml& value, const std::string& path, const std::string& expected);

std::string describe(const Range& range);  // "of at least 1", "above 0 and below 1"

std::int64_t read_whole(const Yaml& value, const std::string& path, const Range& range);
std::uint64_t read_seed(const Yaml& value, const std::string& path);
double read_number(const Yaml& value, const std::string& path, const Range& range);
bool read_switch(const Yaml& value, const std::string& path);
std::string read_text(const Yaml& value, const std::string& path);
// Positive sizes in bytes and rates in bytes per second.
std::int64_t read_size(const Yaml& value, const std::string& path, const std::string& expected);
double read_rate(const Yaml& value, const std::string& path, const std::string& expected);
bool is_word(const Yaml& value, std::string_view word);
std::string size_text(std::int64_t bytes);  // parses to the same number of bytes

using Choices = std::vector<std::string>;
std::string read_choice(const Yaml& value, const std::string& path, const Choices& choices);

// A number of bytes: nullopt for auto, 0 for none.
template <class Field>
Key size_or_none(const std::string& path, const std::string& meaning, Field field) {
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    field(o).reset();
    if (is_word(value, "auto")) return;
    field(o) =
        is_word(value, "none") ? 0 : read_size(value, path, "auto, none or a size above 0B, such as 64GiB");
  };
  const auto print = [=](const pipeline::Experiment& o) {
    if (!field(o)) return std::string("auto");
    return *field(o) == 0 ? "none" : size_text(*field(o));
  };
  return {path,
          "auto | none | a size (64GiB)",
          meaning,
          read,
          print,
          Key::Shape::value,
          allowed::any_of({allowed::choice({"auto", "none"}), allowed::size()})};
}

template <class Field>
Key whole(const std::string& path, const std::string& meaning, Field field, Range range) {
  return {path,
          "a whole number " + describe(range),
          meaning,
          [=](const Yaml& value, pipeline::Experiment& o) { field(o) = read_whole(value, path, range); },
          [=](const pipeline::Experiment& o) { return std::to_string(field(o)); },
          Key::Shape::value,
          allowed::whole(range)};
}

template <class Field>
Key seed(const std::string& path, const std::string& meaning, Field field) {
  return {path,
          "a whole number of at least 0",
          meaning,
          [=](const Yaml& value, pipeline::Experiment& o) { field(o) = read_seed(value, path); },
          [=](const pipeline::Experiment& o) { return std::to_string(field(o)); },
          Key::Shape::value,
          allowed::whole({0, any_size})};
}

template <class Field>
Key real(const std::string& path, const std::string& meaning, Field field, Range range) {
  return {path,
          "a number " + describe(range),
          meaning,
          [=](const Yaml& value, pipeline::Experiment& o) { field(o) = read_number(value, path, range); },
          [=](const pipeline::Experiment& o) { return number(field(o)); },
          Key::Shape::value,
          allowed::number(range)};
}

template <class Field>
Key on_off(const std::string& path, const std::string& meaning, Field field) {
  return {path,
          "true | false",
          meaning,
          [=](const Yaml& value, pipeline::Experiment& o) { field(o) = read_switch(value, path); },
          [=](const pipeline::Experiment& o) { return std::string(field(o) ? "true" : "false"); },
          Key::Shape::value,
          allowed::on_off()};
}

template <class Field>
Key choice(const std::string& path, const std::string& meaning, Field field, const Choices& choices) {
  return {path,
          join(choices, " | "),
          meaning,
          [=](const Yaml& value, pipeline::Experiment& o) { field(o) = read_choice(value, path, choices); },
          [=](const pipeline::Experiment& o) { return yaml_scalar(field(o)); },
          Key::Shape::value,
          allowed::choice(choices)};
}

// For an enumeration (base/choice.h).
template <class Field>
Key choice(const std::string& path, const std::string& meaning, Field field) {
  using Option = std::remove_reference_t<decltype(field(std::declval<pipeline::Experiment&>()))>;
  return {path,
          join(choice_names<Option>(), " | "),
          meaning,
          [=](const Yaml& value, pipeline::Experiment& o) {
            field(o) = choice_of<Option>(read_choice(value, path, choice_names<Option>()));
          },
          [=](const pipeline::Experiment& o) { return yaml_scalar(choice_name(field(o))); },
          Key::Shape::value,
          allowed::choice(choice_names<Option>())};
}

std::string spacing_text(const Spacing& spacing);  // "[1, 1, 2.5]"

// Keys with their own kind of value.
Key resolution();       // preprocess.resolution
Key spacing();          // preprocess.spacing
Key background();       // preprocess.background
Key bias_correction();  // preprocess.bias_correction
Key clip();             // preprocess.clip
Key patch();            // training.patch
Key evaluated_at();     // evaluate.at
Key frozen();           // training.freeze
Key growth();           // training.growth
Key logs();             // training.log
Key scored_metrics();   // evaluate.metrics

}  // namespace value_types

}  // namespace voxswap::experiments
