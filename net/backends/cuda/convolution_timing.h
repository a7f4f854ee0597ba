// Times cuDNN's engines on the device.
#pragma once

#include <memory>
#include <vector>

#include "net/backends/cuda/convolution_plan.h"
#include "net/backends/cuda/device.h"

namespace voxswap::net::cuda {

// Returns the fastest plan by the median of three runs. Plans that fail are skipped; plans much slower than
// the best so far run only once. Memory for one run is allocated meanwhile; if there is not enough, the first
// plan is returned untimed. REQUIRES: not empty.
std::shared_ptr<const ConvolutionPlan> fastest(
    const std::vector<std::shared_ptr<const ConvolutionPlan>>& plans, const ConvolutionProblem& problem,
    const Device& device);

}  // namespace voxswap::net::cuda
