// Keys of preprocess.recipe: nnunet.
#include <algorithm>

#include "experiments/keys.h"
#include "experiments/value_types.h"

namespace voxswap::experiments::value_types {

namespace {

using data::Scheme;

// All schemes but ct, which is written as its four numbers.
Choices scheme_words() {
  Choices words = choice_names<Scheme::Name>();
  std::erase(words, choice_name(Scheme::Name::ct));
  return words;
}

Scheme read_scheme(const Yaml& value, const std::string& path) {
  if (value.kind != Yaml::Kind::list)
    return {choice_of<Scheme::Name>(read_choice(value, path, scheme_words()))};
  const Range any{-any_size, any_size};
  if (value.items.size() != 4) wrong(value, path, "a scheme, or [low, high, mean, deviation] for CT");
  Scheme scheme{Scheme::Name::ct};
  scheme.low = read_number(value.items[0], path, any);
  scheme.high = read_number(value.items[1], path, any);
  scheme.mean = read_number(value.items[2], path, any);
  scheme.deviation = read_number(value.items[3], path, {0, any_size, true});
  if (scheme.low >= scheme.high) wrong(value, path, "[low, high, mean, deviation] with low below high");
  return scheme;
}

std::string scheme_text(const Scheme& scheme) {
  if (scheme.name != Scheme::Name::ct) return choice_name(scheme.name);
  return format("[{}, {}, {}, {}]", number(scheme.low), number(scheme.high), number(scheme.mean),
                number(scheme.deviation));
}

Key schemes() {
  const std::string path = "preprocess.schemes";
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    o.preprocess.schemes.clear();
    if (is_word(value, "none")) return;
    if (value.kind != Yaml::Kind::list || value.items.empty())
      wrong(value, path, "none, or a list with a scheme for each channel");
    for (const Yaml& item : value.items) o.preprocess.schemes.push_back(read_scheme(item, path));
  };
  const auto print = [](const pipeline::Experiment& o) {
    std::vector<std::string> words;
    for (const Scheme& scheme : o.preprocess.schemes) words.push_back(scheme_text(scheme));
    return words.empty() ? "none" : "[" + join(words, ", ") + "]";
  };
  const Json numbers = allowed::list_of(allowed::number({-any_size, any_size}), 4, 4);
  return {
      path,
      "none | [" + join(scheme_words(), " | ") + " | [low, high, mean, deviation], …]",
      "Normalization of each channel for recipe nnunet (four numbers: CT)",
      read,
      print,
      Key::Shape::value,
      allowed::any_of({allowed::choice({"none"}),
                       allowed::list_of(allowed::any_of({allowed::choice(scheme_words()), numbers}), 1)})};
}

Key transpose() {
  const std::string path = "preprocess.transpose";
  const auto read = [=](const Yaml& value, pipeline::Experiment& o) {
    const std::string expected = "the numbers 0, 1 and 2 in any order, such as [1, 0, 2]";
    if (value.kind != Yaml::Kind::list || value.items.size() != 3) wrong(value, path, expected);
    std::array<int, 3> sorted{};
    for (std::size_t i = 0; i < 3; ++i)
      sorted[i] = o.preprocess.transpose[i] = static_cast<int>(read_whole(value.items[i], path, {0, 2}));
    std::sort(sorted.begin(), sorted.end());
    if (sorted != std::array<int, 3>{0, 1, 2}) wrong(value, path, expected);
  };
  const auto print = [](const pipeline::Experiment& o) {
    const auto& [a, b, c] = o.preprocess.transpose;
    return format("[{}, {}, {}]", a, b, c);
  };
  return {path,
          "[0, 1, 2] in any order",
          "Order of the file's axes z, y, x: nnU-Net's transpose_forward (recipe nnunet)",
          read,
          print,
          Key::Shape::value,
          allowed::list_of(allowed::whole({0, 2}), 3, 3)};
}

}  // namespace

std::vector<Key> recipe_keys() {
  const auto cascade = [](auto& o) -> auto& {
    return o.preprocess.cascade;
  };
  return {
      schemes(), transpose(),
      on_off("preprocess.cascade",
             "Further channels: labels that the run in previous_stage predicts (recipe nnunet)", cascade)};
}

}  // namespace voxswap::experiments::value_types
