// Convolutions of one tap to at most four channels, a network's heads, by kernels of our own. As products of
// matrices their voxels of 6 or 8 bytes suit no library: cuBLAS takes eight times as long as the memory
// (docs/explanation/gpu_backend.md).
#pragma once

#include <memory>

#include "net/backends/backend.h"
#include "net/backends/cuda/convolution_problem.h"
#include "net/backends/cuda/device.h"

namespace voxswap::net::cuda {

// Pointwise, of up to 64 channels that are whole vectors of 16 bytes, nothing added but a bias (not to a
// gradient).
bool is_head(const ConvolutionProblem& problem, bool bias);

// Of nodes as in matrix_product.h. REQUIRES: is_head(problem, bias).
std::unique_ptr<Kernel> head_forward(const ConvolutionProblem& problem);
std::unique_ptr<Kernel> head_data_gradient(const ConvolutionProblem& problem);
std::unique_ptr<Kernel> head_weight_gradient(const ConvolutionProblem& problem, bool bias, Device& device);

}  // namespace voxswap::net::cuda
