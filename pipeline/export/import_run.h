// `voxswap import`: a run with weights from another program, for `voxswap predict`.
#pragma once

#include <cstdint>
#include <string>

#include "base/filesystem.h"
#include "pipeline/cases/options.h"

namespace voxswap::pipeline {

// Writes `out`, a new folder: the run's experiment, identity, split and description of its data, the best
// weights of its repeats, and in place of those of `repeat` the ones of `file`. Throws Exit::usage when `out`
// holds something, Exit::bad_data when the weights are not of the run's network.
void import_run(const RunOptions& run, std::int64_t repeat, const fs::path& file, const fs::path& out);

}  // namespace voxswap::pipeline
