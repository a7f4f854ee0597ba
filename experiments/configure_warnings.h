// Warnings of `voxswap configure` about data that makes training less useful.
#pragma once

#include "experiments/candidates.h"

namespace voxswap::experiments {

// Warns if only small patches fit into memory.
void warn_of_little_context(const Candidate& chosen);

// Warns of labels that occur in fewer cases than there are folds.
void warn_of_rare_labels(const pipeline::Fingerprint& fingerprint, std::int64_t folds);

// Warns and returns true if a few cases are so much larger than all others that whole volumes, padded to the
// largest, would be mostly padding. The voxel size in their headers is often wrong.
bool warn_of_outliers(const pipeline::Fingerprint& fingerprint, const TrainingGrid& grid,
                      const Spacing& spacing);

}  // namespace voxswap::experiments
