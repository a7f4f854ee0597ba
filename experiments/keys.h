// The one table of experiment keys, from which help, the resolved file, overrides and suggestions follow.
#pragma once

#include <vector>

#include "experiments/key.h"
#include "pipeline/cases/options.h"

namespace voxswap::experiments {

const std::vector<Key>& keys();  // in the order of the resolved file

// The options before any file is read. `output` holds the pattern of output.dir, `name` is empty.
pipeline::RunOptions default_options();

}  // namespace voxswap::experiments
