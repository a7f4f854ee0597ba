// The keys of an experiment as text for --help, under headings.
#pragma once

#include <string>
#include <vector>

#include "experiments/key.h"

namespace voxswap::experiments {

enum class Keys { common, all };  // common: those that most experiments set

struct KeySection {
  std::string heading;  // "Data"
  std::vector<const Key*> keys;
};
std::vector<KeySection> key_sections();  // all keys, in the order of --help

// What a key is without a file that sets it, as text.
std::string default_text(const Key& key);

// A line per key: its path, its default and what it is.
std::string describe_keys(Keys which);

}  // namespace voxswap::experiments
