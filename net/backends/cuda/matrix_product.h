// Convolutions that are matrix products (convolution_problem.h: is_matrix_product), by cuBLAS, accumulated in
// f32.
#pragma once

#include <memory>

#include "net/backends/backend.h"
#include "net/backends/cuda/convolution_problem.h"
#include "net/backends/cuda/device.h"

namespace voxswap::net::cuda {

// y = w * x + start (start: bias or sum as in the problem), for a node with inputs x, w (, b or s).
std::unique_ptr<Kernel> product_forward(const ConvolutionProblem& problem, Device& device);
// dx for a node with inputs dy, w (, b).
std::unique_ptr<Kernel> product_data_gradient(const ConvolutionProblem& problem, bool bias, Device& device);
// dw (, db) for a node with inputs x, dy.
std::unique_ptr<Kernel> product_weight_gradient(const ConvolutionProblem& problem, bool bias, Device& device);

}  // namespace voxswap::net::cuda
