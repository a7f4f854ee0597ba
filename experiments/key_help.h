// Help on experiment keys for --help, grouped by headings.
#pragma once

#include <string>
#include <vector>

#include "experiments/key.h"

namespace voxswap::experiments {

enum class Keys { common, all };  // common: keys that most experiments set

struct KeySection {
  std::string heading;  // "Data"
  std::vector<const Key*> keys;
};
std::vector<KeySection> key_sections();  // all keys, in the order of --help

// The default value of a key as text.
std::string default_text(const Key& key);

// One line per key: path, default and meaning.
std::string describe_keys(Keys which);

}  // namespace voxswap::experiments
