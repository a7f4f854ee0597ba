// The folder of a run: whether it may be used, and its record of the program.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/folder_lock.h"
#include "experiments/experiment.h"

namespace voxswap::library {

// Locks a run's folder, since two processes that write to one run would mix their results. Throws
// Exit::failed if another process has locked it, unless `patient`, or if it is not writable.
std::unique_ptr<FolderLock> lock_run(const fs::path& folder, bool patient = false);
// Locks the folder of any output, or the run that contains it.
std::unique_ptr<FolderLock> lock_output(const fs::path& folder, bool patient = false);

// Throws before anything is written: Exit::usage if the folder is not empty and `resume` is false, or
// contains a run of another experiment.
void check_run_folder(const pipeline::Experiment& experiment, bool resume);

// The cells in a sweep's folder, by name; empty for other folders.
std::vector<fs::path> cells_in(const fs::path& folder);

// The experiment of the run in a folder: experiment.yaml or, while it trains on a coarser grid first, the
// file that note_grown() wrote. Empty: there is neither.
fs::path experiment_file(const fs::path& run);
// Writes the experiment of a run to the folder of its growth, from which it can be resumed.
void note_grown(const experiments::LoadedExperiment& experiment);

// The `ran_with` section of experiment.yaml. Contains no dates, so that the same run gives the same bytes.
std::string ran_with(const pipeline::Experiment& experiment);

}  // namespace voxswap::library
