// What follows from the sizes of a data set's cases: the grid that they are trained on, where the experiment
// leaves it to them.
#pragma once

#include "experiments/experiment.h"
#include "pipeline/cases/fingerprint.h"

namespace voxswap::experiments {

// Sizes of the cases after the crop, at options.spacing. REQUIRES: it has one.
struct CaseSizes {
  data::Size3 median{}, largest{};  // per axis
  data::Size3 usual{};              // the largest but for the 5 % with the longest side, one at least
};
CaseSizes case_sizes(const pipeline::Fingerprint& fingerprint, const data::PrepareOptions& options);

// Where preprocess.resolution is auto: whole volumes are padded to the largest case, and an epoch takes as
// many patches of a case as make the median one. Both have sides that the network can halve.
void resolve_resolution(pipeline::RunOptions& run, const CaseSizes& sizes);

// Replaces what is auto in preprocess.spacing and preprocess.resolution by what the cases say. They are read
// for it, with a crop all their voxels, and what was found is cached.
void resolve_grid(Experiment& experiment);

}  // namespace voxswap::experiments
