// The content of an Experiment in the public headers.
#pragma once

#include "experiments/experiment.h"
#include "voxswap/experiment.h"

namespace voxswap {

struct Experiment::Content {
  experiments::LoadedExperiment experiment;
};

Experiment holding(experiments::LoadedExperiment experiment);

}  // namespace voxswap
