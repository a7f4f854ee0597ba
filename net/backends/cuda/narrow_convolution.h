// Convolutions of 3 x 3 x 3 taps with few channels, on tensor cores, by our own kernels. At full resolution
// they are most of a U-Net's time, and library engines, made for many channels, reach a fifteenth of the
// arithmetic and a twelfth of the bandwidth (docs/explanation/gpu_backend.md).
#pragma once

#include <memory>

#include "net/backends/backend.h"
#include "net/backends/cuda/convolution_problem.h"
#include "net/backends/cuda/device.h"

namespace voxswap::net::cuda {

// Stride 1, padding 1 (any along the depth), bf16 or f16, from 8 or 16 channels to 16.
bool is_narrow(const ConvolutionProblem& problem, const Device& device);

// For nodes as in matrix_product.h. `bias`: of a gradient. REQUIRES: is_narrow(problem).
std::unique_ptr<Kernel> narrow_convolution(const ConvolutionProblem& problem, bool bias, Device& device);

}  // namespace voxswap::net::cuda
