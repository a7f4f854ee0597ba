// Shared by the kernels of a convolution by oneDNN: primitives, weights in the library's format, the
// description of a convolution, and the forward kernel (which also computes some data gradients).
//
// Only files that use oneDNN include this header.
#pragma once

#include <dnnl.hpp>
#include <optional>
#include <vector>

#include "base/error.h"
#include "net/backends/onednn/passes.h"
#include "net/graph/axes.h"

namespace voxswap::net::onednn {

// A oneDNN primitive for repeated execution. Its memory objects are pointed at the tensors before each run,
// and its scratchpad is in the kernel's workspace.
const dnnl::engine& engine();  // the CPU

class Primitive {
 public:
  Primitive(dnnl::primitive primitive, const dnnl::memory::desc& scratchpad, WorkspacePlan& plan);

  // Adds an argument and returns its index for point().
  std::size_t argument(int kind, const dnnl::memory::desc& description);
  void point(std::size_t argument, const void* data);
  void run(const KernelArguments& arguments);

 private:
  dnnl::primitive primitive_;
  dnnl::stream stream_;
  std::vector<dnnl::memory> memories_;  // the scratchpad first
  std::vector<dnnl_exec_arg_t> arguments_;
  std::int64_t scratchpad_;
};

// Weights of a convolution in the library's preferred format, converted on each run from the graph's
// O,I,D,H,W in f32.
dnnl::primitive_attr own_scratchpad();  // temporaries come from the kernel's workspace

// Offsets in the workspace and the conversion; neither if the preferred format is the graph's.
class ReorderedWeights {
 public:
  // `plain`: the convolution's layout, O,I,D,H,W in f32. If mirrored, the graph's weights are I,O,D,H,W, with
  // taps in reverse order.
  ReorderedWeights(const dnnl::memory::desc& plain, const dnnl::memory::desc& wanted, bool mirrored,
                   WorkspacePlan& plan);
  const void* ready(const KernelArguments& arguments, const float* weights);

 private:
  enum class First { nothing, mirror, round };
  const void* arranged(const KernelArguments& arguments, const float* weights) const;

  First first_ = First::nothing;
  bool mirrored_;
  std::int64_t outputs_, inputs_, taps_;
  std::int64_t arranged_ = 0, place_ = 0;
  std::optional<Primitive> reorder_;
  std::size_t from_ = 0, to_ = 0;
};

// Description of a convolution y = w * x, shared by its three kernels.
struct Geometry {
  dnnl::memory::desc x, y, plain_weights, weights, full_weights,
      bias;                                 // weights: of the activations' type, any format
  dnnl::memory::dims strides, dilation;     // per axis; the library counts dilation from 0
  dnnl::memory::dims padding, padding_end;  // before and after the volume
};

Geometry geometry(const Shape& x, const Shape& y, const Shape& w, const KernelAxes& axes, ElementType type,
                  const Node& node);

// The initial value to which a convolution adds its products: zero, a value per channel, or a volume like y.
enum class Start { zero, bias, sum };
dnnl::convolution_forward::primitive_desc forward_description(const Geometry& g, Start start);

// y = w * x + start, with weights O,I,D,H,W: for a node with inputs x, w (, b or s).
std::unique_ptr<Kernel> convolution_kernel(const Geometry& g, Start start);

// The same with weights in I,O,D,H,W and mirrored in space: for a node with inputs dy, w (, b), where g.x is
// dy.
std::unique_ptr<Kernel> mirrored_convolution_kernel(const Geometry& g, Start start);

// The most planes of this size in one weight gradient of the library, which counts its transposed copies in
// 32 bits.
std::int64_t most_planes(std::int64_t height, std::int64_t width, ElementType type);

// dw (, db) for a node with inputs x, dy; dx for a node with inputs dy, w (, b), where g.x is dx.
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
