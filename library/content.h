// What an Experiment of the public headers holds.
#pragma once

#include "experiments/experiment.h"
#include "voxswap/experiment.h"

namespace voxswap {

struct Experiment::Content {
  experiments::Experiment experiment;
};

Experiment holding(experiments::Experiment experiment);

}  // namespace voxswap
