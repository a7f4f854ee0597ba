// Convolutions that are matrix products (convolution_problem.h: is_matrix_product), by cuBLAS, accumulated in
// f32.
#pragma once

#include <cstdint>
#include <memory>

#include "net/backends/backend.h"
#include "net/backends/cuda/convolution_problem.h"
#include "net/backends/cuda/device.h"

namespace voxswap::net::cuda {

// y = w * x + start (start: bias or sum as in the problem), of a node of inputs x, w (, b or s).
std::unique_ptr<Kernel> product_forward(const ConvolutionProblem& problem, Device& device);
// dx of a node of inputs dy, w (, b).
std::unique_ptr<Kernel> product_data_gradient(const ConvolutionProblem& problem, bool bias, Device& device);
// dw (, db) of a node of inputs x, dy.
std::unique_ptr<Kernel> product_weight_gradient(const ConvolutionProblem& problem, bool bias, Device& device);

// Offsets in a kernel's workspace, assigned when the kernel is made.
class WorkspacePlan {
 public:
  static constexpr std::int64_t alignment = 256;
  std::int64_t book(std::int64_t bytes) {  // returns the offset
    const std::int64_t place = bytes_;
    bytes_ += (bytes + alignment - 1) / alignment * alignment;
    return place;
  }
  // Workspaces are less aligned than offsets in them, so the first offset may be shifted.
  std::int64_t bytes() const { return bytes_ == 0 ? 0 : bytes_ + alignment; }

  template <class T>
  static T* at(const KernelArguments& arguments, std::int64_t place) {
    const auto begin = reinterpret_cast<std::uintptr_t>(arguments.workspace);
    const std::uintptr_t aligned = (begin + alignment - 1) / alignment * alignment;
    return reinterpret_cast<T*>(aligned + static_cast<std::uintptr_t>(place));
  }

 private:
  std::int64_t bytes_ = 0;
};

}  // namespace voxswap::net::cuda
