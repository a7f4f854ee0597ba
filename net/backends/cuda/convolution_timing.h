// Timing of cuDNN's engines on the device itself.
#pragma once

#include <memory>
#include <vector>

#include "net/backends/cuda/convolution_plan.h"
#include "net/backends/cuda/device.h"

namespace voxswap::net::cuda {

// The one that takes the shortest time, the middle of three runs; one that fails when it runs is passed over,
// and one that is much slower than the best so far runs no further.
// Memory for one run is taken meanwhile; where there is not enough, the first plan is returned untimed.
// REQUIRES: not empty.
std::shared_ptr<const ConvolutionPlan> fastest(
    const std::vector<std::shared_ptr<const ConvolutionPlan>>& plans, const ConvolutionProblem& problem,
    const Device& device);

}  // namespace voxswap::net::cuda
