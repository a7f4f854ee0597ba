// A sweep before its values are combined: keys and values of the file and command line.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "experiments/settings.h"
#include "experiments/yaml.h"

namespace voxswap::experiments {

struct SweptValue {
  std::string label;  // readable, may not be a valid file name
  Yaml value;
};

struct Axis {
  std::string path;
  std::vector<SweptValue> values;
};

struct Draft {
  Settings base;           // shared by all cells
  std::vector<Axis> axes;  // keys and options
  std::map<std::string, Yaml> stated;
};

// Reads the file, then the arguments, which override it. `out`: --out, or empty. Throws Exit::usage.
Draft read_draft(const fs::path& file, const std::vector<std::string>& arguments, const std::string& out);

// "[40,56,40],[20,28,20]" -> two values; quotes around a whole value are removed.
std::vector<std::string> split_values(const std::string& text);

// A short label for display: 12GB/s, 40x56x40, 12GB/s_8GB/s.
std::string label_of(const Yaml& value);

}  // namespace voxswap::experiments
