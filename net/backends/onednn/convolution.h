// Shared by the three kernels of a convolution: its description, its weights in the library's format, and the
// forward kernel (which also computes some data gradients).
//
// Only files that use oneDNN include this header.
#pragma once

#include <dnnl.hpp>
#include <optional>

#include "base/error.h"
#include "net/backends/onednn/element_types.h"
#include "net/backends/onednn/primitive.h"
#include "net/backends/onednn/reordered_weights.h"
#include "net/graph/kernel_axes.h"

namespace voxswap::net::onednn {

// Description of a convolution y = w * x, shared by its three kernels.
struct Geometry {
  dnnl::memory::desc x, y, plain_weights, weights, full_weights,
      bias;                                 // weights: of the activations' type, any format
  dnnl::memory::dims strides, dilation;     // per axis; the library counts dilation from 0
  dnnl::memory::dims padding, padding_end;  // before and after the volume
};

Geometry geometry(const Shape& x, const Shape& y, const Shape& w, const KernelAxes& axes, ElementType type,
                  const Node& node);

// What a convolution adds its products to: zeros, a value per channel, or a volume like y.
enum class Start { zero, bias, sum };
dnnl::convolution_forward::primitive_desc forward_description(const Geometry& g, Start start);

// y = w * x + start, the weights in O,I,D,H,W: a node of inputs x, w (, b or s).
std::unique_ptr<Kernel> convolution_kernel(const Geometry& g, Start start);

// The same with weights in I,O,D,H,W and mirrored in space: a node of inputs dy, w (, b) whose g.x is dy.
std::unique_ptr<Kernel> mirrored_convolution_kernel(const Geometry& g, Start start);

// Most planes of this size in one weight gradient of the library, which counts its transposed copies in 32
// bits.
std::int64_t most_planes(std::int64_t height, std::int64_t width, ElementType type);

// dw (, db) of a node of inputs x, dy; dx of a node of inputs dy, w (, b) whose g.x is dx.
std::unique_ptr<Kernel> weight_gradient_kernel(const Geometry& g, ElementType type, bool bias,
                                               const Node& node);
std::unique_ptr<Kernel> data_gradient_kernel(const Geometry& g, const Shape& dx, ElementType type, bool bias,
                                             const Node& node);

// Throws Exit::does_not_fit if the system maps no more memory. oneDNN 2.6 writes generated code without
// checking that the allocation succeeded.
void require_memory_for_code(const Node& node);

// Adds the node to oneDNN's errors. Out of memory becomes Exit::does_not_fit; a volume too large for the
// library's 32-bit sizes gets its own message.
template <class Make>
std::unique_ptr<Kernel> guarded(const Node& node, Make make) {
  require_memory_for_code(node);
  try {
    return make();
  } catch (const dnnl::error& error) {
    const bool too_large = error.status == dnnl_out_of_memory || error.status == dnnl_invalid_arguments;
    fail(too_large ? Exit::does_not_fit : Exit::failed, "node {}: oneDNN cannot create this convolution ({})",
         node.name, error.what());
  }
}

}  // namespace voxswap::net::onednn
