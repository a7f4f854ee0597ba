// The folder that a run is written to: may it be used, and what it notes about the program that wrote it.
#pragma once

#include <string>

#include "experiments/experiment.h"

namespace voxswap {

// Throws before anything is written: Exit::usage when the folder holds something and `resume` is not asked
// for, or holds a run of another experiment; Exit::failed when it cannot be written.
void check_run_folder(const Experiment& experiment, bool resume);

// The `ran_with` section of experiment.yaml. No dates: the same run gives the same bytes.
std::string ran_with(const RunOptions& options);

}  // namespace voxswap
