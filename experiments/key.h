// One key of the experiment file: path, meaning, reading and printing.
#pragma once

#include <functional>
#include <string>

#include "base/json.h"
#include "experiments/yaml.h"
#include "pipeline/cases/experiment.h"
#include "pipeline/report/setting.h"

namespace voxswap::experiments {

struct Key {
  std::string path;      // "training.optimizer.learning_rate"
  std::string expected;  // "a number above 0", "plateau | poly | cosine | constant"
  std::string meaning;   // one line
  std::function<void(const Yaml&, pipeline::Experiment&)>
      read;  // throws Exit::usage with location, key, expected and actual value
  std::function<std::string(const pipeline::Experiment&)> print;  // as YAML on one line
  enum class Shape { value, text, map, map_of_text } shape = Shape::value;
  // text: an override is taken literally, not as YAML. map: an override may set a single entry.
  Json allowed{};                                        // valid values as JSON Schema (value_types.h)
  pipeline::Decides decides = pipeline::Decides::model;  // set for every key in keys.cpp
};

}  // namespace voxswap::experiments
