// A convolution as a problem for a library: shapes, type, kernel geometry, and the tensor to which products
// are added. Volumes are N,D,H,W,C.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "net/graph/axes.h"
#include "net/graph/graph.h"

namespace voxswap::net::cuda {

// Tensor-core engines read volumes whose voxels are a multiple of this many bytes, and make padded copies of
// others.
constexpr std::int64_t voxel_alignment = 16;

// The weight gradient of a slab is one sum, as cuDNN computes it, not one per block of planes.
constexpr bool sums_in_blocks = false;

struct ConvolutionProblem {
  enum class Kind { forward, data_gradient, weight_gradient } kind = Kind::forward;
  // The initial value to which products are added (forward): zero, a bias per channel in the volumes' type,
  // or the content of y.
  enum class Start { zero, bias, sum } start = Start::zero;
  ElementType type = ElementType::f32;
  Shape x, y;  // N,D,H,W,I (dx) and N,d,h,w,O (dy)
  KernelAxes axes;
  std::string text() const;  // distinguishes problems

  std::int64_t weights() const { return x[4] * y[4] * taps(axes); }
  double flops() const {
    return 2.0 * static_cast<double>(y.count()) * static_cast<double>(weights()) / y[4];
  }
};

// The problem of a node; nullopt if it is not a convolution.
std::optional<ConvolutionProblem> convolution_problem(const Graph& graph, const Node& node);

// The problems that a node poses to a library: one, or for a windowed node those of the convolutions that it
// is divided into.
std::vector<ConvolutionProblem> convolution_problems(const Graph& graph, const Node& node);

bool is_matrix_product(const ConvolutionProblem& problem);  // kernel 1, stride 1, no padding

}  // namespace voxswap::net::cuda
