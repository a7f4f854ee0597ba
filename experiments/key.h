// One key of the experiment file: path, meaning, how to read and how to print it.
#pragma once

#include <functional>
#include <string>

#include "base/json.h"
#include "experiments/yaml.h"
#include "pipeline/cases/options.h"
#include "pipeline/report/setting.h"

namespace voxswap::experiments {

struct Key {
  std::string path;      // "training.optimizer.learning_rate"
  std::string expected;  // "a number above 0", "plateau | poly | cosine | constant"
  std::string meaning;   // one line
  std::function<void(const Yaml&, pipeline::RunOptions&)>
      read;  // throws Exit::usage with place, key, expected and found
  std::function<std::string(const pipeline::RunOptions&)> print;  // as YAML, on one line
  enum class Shape { value, text, map, map_of_text } shape = Shape::value;
  // text: an override is taken as it stands, not as YAML. map: an override may set one entry.
  Json allowed{};                                        // its values, as JSON Schema (value_types.h)
  pipeline::Decides decides = pipeline::Decides::model;  // the table says it of every key (keys.cpp)
};

}  // namespace voxswap::experiments
