// The keys of an experiment as text for --help, under headings.
#pragma once

#include <string>

namespace voxswap::experiments {

enum class Keys { common, all };  // common: those that most experiments set

// A line per key: its path, its default and what it is.
std::string describe_keys(Keys which);

}  // namespace voxswap::experiments
