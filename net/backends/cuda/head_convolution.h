// Convolutions of one tap to at most four channels, a network's heads, by our own kernels. As matrix
// products, with voxels of 6 or 8 bytes, they suit no library: cuBLAS takes eight times as long as the memory
// accesses (docs/explanation/gpu_backend.md).
#pragma once

#include <memory>

#include "net/backends/backend.h"
#include "net/backends/cuda/convolution_problem.h"
#include "net/backends/cuda/device.h"

namespace voxswap::net::cuda {

// Pointwise, with up to 64 input channels in whole vectors of 16 bytes, starting from zero or a bias (a
// gradient: from zero).
bool is_head(const ConvolutionProblem& problem, bool bias);

// For nodes as in matrix_product.h. REQUIRES: is_head(problem, bias).
std::unique_ptr<Kernel> head_forward(const ConvolutionProblem& problem);
std::unique_ptr<Kernel> head_data_gradient(const ConvolutionProblem& problem);
std::unique_ptr<Kernel> head_weight_gradient(const ConvolutionProblem& problem, bool bias, Device& device);

}  // namespace voxswap::net::cuda
