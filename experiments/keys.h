// The one table of experiment keys: path, default, meaning, how to read and how to print each. Help, the
// resolved file, overrides and suggestions for slips all come from it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/yaml.h"
#include "pipeline/options.h"

namespace voxswap {

struct Key {
  std::string path;      // "training.optimizer.learning_rate"
  std::string expected;  // "a number above 0", "plateau | poly | cosine | constant"
  std::string meaning;   // one line
  std::function<void(const Yaml&, RunOptions&)>
      read;  // throws Exit::usage with place, key, expected and found
  std::function<std::string(const RunOptions&)> print;  // as YAML, on one line
  enum class Shape { value, text, map, map_of_text } shape = Shape::value;
  // text: an override is taken as it stands, not as YAML. map: an override may set one entry.
};

const std::vector<Key>& keys();  // in the order of the resolved file

// The options before any file is read. `output` holds the pattern of output.dir, `name` is empty.
RunOptions default_options();

// A data set's files as written down: the order of a std::map is not the order of the file.
std::vector<std::string> channel_order(const RunOptions& options);

}  // namespace voxswap
