// Determines the training grid from the sizes of the cases, if the experiment sets it to auto.
#pragma once

#include "experiments/experiment.h"
#include "pipeline/cases/fingerprint.h"

namespace voxswap::experiments {

// Sizes of the cases after cropping, at options.spacing. REQUIRES: a spacing is set.
struct CaseSizes {
  Size3 median{}, largest{};  // per axis
  Size3 usual{};              // the largest without the 5 % (at least one) with the longest side
};
CaseSizes case_sizes(const pipeline::Fingerprint& fingerprint, const data::PrepareOptions& options);

// If preprocess.resolution is auto: whole volumes are padded to the largest case; with patches, an epoch has
// enough patches per case to cover the median one. Both sizes are rounded to multiples that the network
// supports.
void resolve_resolution(pipeline::Experiment& experiment, const CaseSizes& sizes);

// Replaces automatic preprocess.spacing and preprocess.resolution by values from the cases. Reads their
// headers (with cropping, all voxels) and caches the result.
void resolve_grid(LoadedExperiment& experiment);

}  // namespace voxswap::experiments
