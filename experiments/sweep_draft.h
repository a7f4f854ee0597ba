// A sweep before its values are combined: the keys of file and command line, with their values.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "experiments/settings.h"
#include "experiments/yaml.h"

namespace voxswap::experiments {

struct SweptValue {
  std::string label;  // readable, not yet a file name
  Yaml value;
};

struct Axis {
  std::string path;
  std::vector<SweptValue> values;
};

struct Draft {
  Settings base;           // with what all cells share
  std::vector<Axis> axes;  // of keys and questions
  std::map<std::string, Yaml> stated;
};

// Reads the file and then the arguments, which replace what the file says. `out`: --out, or nothing. Throws
// Exit::usage.
Draft read_draft(const fs::path& file, const std::vector<std::string>& arguments, const std::string& out);

// "[40,56,40],[20,28,20]" in two; quotes around a whole piece are taken off.
std::vector<std::string> split_values(const std::string& text);

// One line that a person reads: 12GB/s, 40x56x40, 12GB/s_8GB/s.
std::string label_of(const Yaml& value);

}  // namespace voxswap::experiments
