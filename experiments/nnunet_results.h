// Results folders of nnU-Net 2 (DatasetXXX_Name/Trainer__Plans__Configuration) as runs.
#pragma once

#include "base/file.h"
#include "pipeline/export/import_run.h"

namespace voxswap::experiments {

// True for a folder with plans of nnU-Net 2.
bool is_nnunet_results(const fs::path& folder);

// Writes a run to `out` whose repeats are the folds of `folder`, which predict together. Runs no code of the
// checkpoints (pipeline/record/torch_file.h). Throws Exit::bad_data for folders of nnU-Net 1, without
// checkpoint_final.pth, and for damaged or unsupported files; Exit::usage if `out` is not empty.
void import_nnunet_results(const fs::path& folder, const fs::path& out);

}  // namespace voxswap::experiments
