// A convolution as a question to a library: shapes, type, window, and what the products are added to. Volumes
// are N,D,H,W,C.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "net/graph/graph.h"
#include "net/graph/kernel_axes.h"

namespace voxswap::net::cuda {

// Engines for tensor cores read volumes whose voxels take a multiple of so many bytes; of others they make a
// padded copy.
constexpr std::int64_t voxel_alignment = 16;

struct ConvolutionProblem {
  enum class Kind { forward, data_gradient, weight_gradient } kind = Kind::forward;
  // What the products are added to (forward): zeros, a value of the volumes' type per channel, or what y
  // holds.
  enum class Start { zero, bias, sum } start = Start::zero;
  ElementType type = ElementType::f32;
  Shape x, y;  // N,D,H,W,I (dx) and N,d,h,w,O (dy)
  KernelAxes axes;
  std::string text() const;  // different for different problems

  std::int64_t weights() const { return x[4] * y[4] * taps(axes); }
  double flops() const {
    return 2.0 * static_cast<double>(y.count()) * static_cast<double>(weights()) / y[4];
  }
};

// That of a node; nothing where the node is no convolution.
std::optional<ConvolutionProblem> convolution_problem(const Graph& graph, const Node& node);

// What a library is asked for a node: that; of a node on a window of pieces, what each of the convolutions is
// that it is divided into.
std::vector<ConvolutionProblem> convolution_problems(const Graph& graph, const Node& node);

bool is_matrix_product(const ConvolutionProblem& problem);  // kernel 1, stride 1, no padding

}  // namespace voxswap::net::cuda
