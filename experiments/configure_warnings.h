// Warnings of `voxswap configure` about the data set: what makes a training of little use.
#pragma once

#include "experiments/choices.h"

namespace voxswap::experiments {

// Labels that are in fewer cases than there are folds.
void warn_of_rare_labels(const pipeline::Fingerprint& fingerprint, std::int64_t folds);

// Whether a few cases are so much larger than all others that whole volumes, which are padded to the largest,
// would be padding for the most part. Often the voxel size in such a header is wrong.
bool warn_of_outliers(const pipeline::Fingerprint& fingerprint, const TrainingGrid& grid,
                      const data::Spacing& spacing);

}  // namespace voxswap::experiments
