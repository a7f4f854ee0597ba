// The folder of a run: whether it may be used, and what is recorded about the program.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/folder_lock.h"
#include "experiments/experiment.h"

namespace voxswap::library {

// Holds a run's folder until the end: two that write to one run would mix their results. Throws Exit::failed
// when another process holds it or it cannot be written.
std::unique_ptr<FolderLock> lock_run(const fs::path& folder);
// The same for any output: of the run that it lies in, or else of the folder itself.
std::unique_ptr<FolderLock> lock_output(const fs::path& folder);

// Throws before anything is written: Exit::usage when the folder holds something and `resume` is not asked
// for, or holds a run of another experiment.
void check_run_folder(const experiments::Experiment& experiment, bool resume);

// The cells of a sweep's folder, by name; none of a run's folder or another.
std::vector<fs::path> cells_in(const fs::path& folder);

// The `ran_with` section of experiment.yaml. No dates: the same run gives the same bytes.
std::string ran_with(const pipeline::RunOptions& options);

}  // namespace voxswap::library
