// Convolution by oneDNN. Activations are N,D,H,W,C. Weights are converted on each run from the graph's
// O,I,D,H,W in f32 to the library's preferred format (they are small compared with the activations). All
// temporaries are in the kernel's workspace.
#include "net/backends/onednn/convolution.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/keys.h"
#include "base/text.h"
#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/passes.h"

namespace voxswap::net::onednn {

namespace {

using dnnl::memory;
using Tag = memory::format_tag;

memory::data_type library_type(ElementType type, const Node& node) {
  if (type == ElementType::f32) return memory::data_type::f32;
  if (type == ElementType::bf16) return memory::data_type::bf16;
  fail(Exit::failed, "node {}: the onednn backend supports convolutions in f32 and bf16, not in {}",
       node.name, element_name(type));
}

// oneDNN counts voxels in 32 bits in places, and silently truncates larger numbers.
void check_voxels(const Shape& shape, const Node& node) {
  const std::int64_t voxels = shape.count() / shape[4], most = std::numeric_limits<std::int32_t>::max();
  if (voxels > most)
    fail(Exit::does_not_fit,
         "node {}: oneDNN supports at most {} per convolution, not the {} of {}. Use smaller volumes "
         "({} or {}), patches ({}), or a lower {}",
         node.name, counted(most, "voxel"), voxels, shape.text(), key::preprocess_resolution,
         key::preprocess_spacing, key::training_patch, key::training_batch_size);
}

memory::dims channels_second(const Shape& shape) {
  return {shape[0], shape[4], shape[1], shape[2], shape[3]};
}

}  // namespace

void require_memory_for_code(const Node& node) {
  constexpr std::size_t several_kernels = std::size_t{4} << 20;  // each of 256 KiB to 1 MiB
  void* trial = mmap(nullptr, several_kernels, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (trial == MAP_FAILED)
    fail(Exit::does_not_fit,
         "node {}: no memory is left for the convolution's code ({}). End other programs or raise the limit "
         "of the process (ulimit -v)",
         node.name, std::strerror(errno));
  munmap(trial, several_kernels);
}

Geometry geometry(const Shape& x, const Shape& y, const Shape& w, const KernelAxes& axes, ElementType type,
                  const Node& node) {
  check_voxels(x, node);
  check_voxels(y, node);
  const memory::data_type activations = library_type(type, node), full = memory::data_type::f32;
  const memory::dims weights(w.extents().begin(), w.extents().end());
  Geometry g;
  g.x = {channels_second(x), activations, Tag::ndhwc};
  g.y = {channels_second(y), activations, Tag::ndhwc};
  g.plain_weights = {weights, full, Tag::oidhw};
  g.weights = {weights, activations, Tag::any};
  g.full_weights = {weights, full, Tag::any};
  g.bias = {{w[0]}, full, Tag::a};
  for (const KernelAxis& axis : axes) {
    g.strides.push_back(axis.stride);
    g.dilation.push_back(axis.dilation - 1);
    g.padding.push_back(axis.before);
    g.padding_end.push_back(axis.behind);
  }
  return g;
}

dnnl::convolution_forward::primitive_desc forward_description(const Geometry& g, Start start) {
  using Forward = dnnl::convolution_forward;
  const auto direct = dnnl::algorithm::convolution_direct;
  const auto kind = dnnl::prop_kind::forward_training;
  const Forward::desc description =
      start == Start::bias
          ? Forward::desc(kind, direct, g.x, g.weights, g.bias, g.y, g.strides, g.dilation, g.padding,
                          g.padding_end)
          : Forward::desc(kind, direct, g.x, g.weights, g.y, g.strides, g.dilation, g.padding, g.padding_end);
  dnnl::primitive_attr attributes = own_scratchpad();
  if (start == Start::sum) {
    dnnl::post_ops add_what_is_there;
    add_what_is_there.append_sum(1.0F);
    attributes.set_post_ops(add_what_is_there);
  }
  return {description, attributes, engine()};
}

namespace {

class Convolution final : public Kernel {
 public:
  Convolution(const Geometry& g, Start start, bool mirrored)
      : Convolution(g, forward_description(g, start), start, mirrored) {}
  std::int64_t workspace_bytes() const override { return plan_.bytes(); }
  std::string implementation() const override { return implementation_; }
  void run(const KernelArguments& arguments) override {
    const void* weights = weights_.ready(arguments, input<float>(arguments, 1));
    primitive_.point(x_, arguments.inputs[0]);
    primitive_.point(w_, weights);
    if (start_ == Start::bias) primitive_.point(b_, arguments.inputs[2]);
    if (start_ == Start::sum && arguments.inputs[2] != arguments.outputs[0])
      copy(arguments.outputs[0], arguments.inputs[2], y_bytes_);
    primitive_.point(y_, arguments.outputs[0]);
    primitive_.run(arguments);
  }

 private:
  Convolution(const Geometry& g, const dnnl::convolution_forward::primitive_desc& description, Start start,
              bool mirrored)
      : implementation_(description.impl_info_str()),
        start_(start),
        y_bytes_(static_cast<std::int64_t>(g.y.get_size())),
        weights_(g.plain_weights, description.weights_desc(), mirrored, plan_),
        primitive_(dnnl::convolution_forward(description), description.scratchpad_desc(), plan_) {
    x_ = primitive_.argument(DNNL_ARG_SRC, g.x);
    w_ = primitive_.argument(DNNL_ARG_WEIGHTS, description.weights_desc());
    if (start == Start::bias) b_ = primitive_.argument(DNNL_ARG_BIAS, g.bias);
    y_ = primitive_.argument(DNNL_ARG_DST, g.y);
  }

  WorkspacePlan plan_;
  std::string implementation_;
  Start start_;
  std::int64_t y_bytes_;
  ReorderedWeights weights_;
  Primitive primitive_;
  std::size_t x_ = 0, w_ = 0, b_ = 0, y_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> convolution_kernel(const Geometry& g, Start start) {
  return std::make_unique<Convolution>(g, start, false);
}
std::unique_ptr<Kernel> mirrored_convolution_kernel(const Geometry& g, Start start) {
  return std::make_unique<Convolution>(g, start, true);
}

namespace {

std::unique_ptr<Kernel> make(const Graph& graph, const Node& node, Start start) {
  return guarded(node, [&] {
    const Shape& w = input_shape(graph, node, 1);
    return convolution_kernel(geometry(input_shape(graph, node, 0), output_shape(graph, node), w,
                                       kernel_axes(node.attributes, w), input_type(graph, node), node),
                              start);
  });
}

// Only the convolution; the library adds its products to `start`.
std::unique_ptr<Kernel> make_plain(const Graph& graph, const Node& node, Start start, Maker maker) {
  if (std::unique_ptr<Kernel> own = own_convolution(graph, node)) return own;
  if (needs_upcast(input_type(graph, node))) return upcast(graph, node, maker);
  return make(graph, node, start);
}

std::unique_ptr<Kernel> make_forward(const Graph& graph, const Node& node, Start start, Maker maker) {
  if (!node.attributes.flag("moments")) return make_plain(graph, node, start, maker);
  const Graph plain = without_moments(graph, node);
  return make_with_moments(graph, node, make_plain(plain, plain.node(0), start, maker));
}

}  // namespace

std::unique_ptr<Kernel> make_conv3d(const Graph& graph, const Node& node) {
  return make_forward(graph, node, node.inputs.size() > 2 ? Start::bias : Start::zero, make_conv3d);
}
std::unique_ptr<Kernel> make_conv3d_sum(const Graph& graph, const Node& node) {
  return make_forward(graph, node, Start::sum, make_conv3d_sum);
}

// Gradients: with respect to the input (also the transposed convolution), and to weights and bias.

namespace {

// Without a stride the gradient is a convolution of dy with the mirrored weights, and oneDNN's forward
// routines are about 1.3 times as fast as its data gradients in N,D,H,W,C (measured on AVX-512 in f32). Below
// some hundred voxels, mirroring the weights costs more than this saves.
bool faster_as_convolution(const KernelAxes& axes, const Shape& dx) {
  const std::int64_t voxels = dx[0] * dx[1] * dx[2] * dx[3];
  const bool possible = std::all_of(axes.begin(), axes.end(), [](const KernelAxis& axis) {
    return axis.stride == 1 && axis.reach() > axis.before && axis.reach() > axis.behind;
  });
  return possible && taps(axes) > 1 && voxels >= 128;
}

// Axes of the convolution of dy with the mirrored weights.
KernelAxes mirrored(KernelAxes axes) {
  for (KernelAxis& axis : axes) {
    axis.before = axis.reach() - 1 - axis.before;
    axis.behind = axis.reach() - 1 - axis.behind;
  }
  return axes;
}

// oneDNN 2.6 reads bf16 in pairs: its data gradients of 1^3 kernels are wrong if dy has an odd number of
// channels and the voxels do not divide evenly among its threads.
bool wrong_as_gradient(const KernelAxes& axes, const Shape& w, ElementType type) {
  return type == ElementType::bf16 && is_pointwise(axes) && w[0] % 2 == 1;
}

// oneDNN 2.6 leaves parts of a bf16 weight or bias gradient unwritten, and reads outside its temporaries, if
// a kernel reaches into the padding on both sides of a volume that is no larger along that axis. Seen with
// kernels of 3 at stride 2 and of 7 at any stride.
bool goes_astray_in_bf16(const KernelAxes& axes, const Shape& dy) {
  for (std::size_t i = 0; i < 3; ++i) {
    const KernelAxis& axis = axes[i];
    const bool both_sides = axis.before > 0 && axis.behind > 0 && dy[static_cast<int>(i) + 1] <= axis.reach();
    if (both_sides && (axis.kernel > 3 || axis.stride > 1 || axis.dilation > 1)) return true;
  }
  return false;
}

}  // namespace

std::unique_ptr<Kernel> make_conv3d_data_gradient(const Graph& graph, const Node& node) {
  if (std::unique_ptr<Kernel> own = own_data_gradient(graph, node)) return own;
  if (needs_upcast(input_type(graph, node))) return upcast(graph, node, make_conv3d_data_gradient);
  return guarded(node, [&]() -> std::unique_ptr<Kernel> {
    const Shape &dy = input_shape(graph, node, 0), &w = input_shape(graph, node, 1),
                &dx = output_shape(graph, node);
    const KernelAxes axes = kernel_axes(node.attributes, w);
    const ElementType type = input_type(graph, node);
    const bool bias = node.inputs.size() > 2;
    if (faster_as_convolution(axes, dx) || wrong_as_gradient(axes, w, type)) {
      const Geometry g = geometry(dy, dx, {w[1], w[0], w[2], w[3], w[4]}, mirrored(axes), type, node);
      return mirrored_convolution_kernel(g, bias ? Start::bias : Start::zero);
    }
    const Geometry g = geometry(dx, dy, w, axes, type, node);
    std::unique_ptr<Kernel> whole = data_gradient_kernel(g, dx, type, bias, node);
    const std::int64_t slabs = slab_count(graph, node, whole->workspace_bytes());
    return slabs == 1 ? std::move(whole) : data_gradient_in_slabs(graph, node, slabs);
  });
}

std::unique_ptr<Kernel> make_conv3d_weight_gradient(const Graph& graph, const Node& node) {
  if (std::unique_ptr<Kernel> own = own_weight_gradient(graph, node)) return own;
  if (needs_upcast(input_type(graph, node))) return upcast(graph, node, make_conv3d_weight_gradient);
  return guarded(node, [&] {
    const KernelAxes axes = kernel_axes(node.attributes);
    const Geometry g = geometry(input_shape(graph, node, 0), input_shape(graph, node, 1),
                                output_shape(graph, node), axes, input_type(graph, node), node);
    if (input_type(graph, node) == ElementType::bf16 &&
        goes_astray_in_bf16(axes, input_shape(graph, node, 1)))
      return upcast(graph, node, make_conv3d_weight_gradient);
    const std::int64_t fewest = fewest_slabs(graph, node);
    std::unique_ptr<Kernel> kernel =
        fewest == 1 ? weight_gradient_kernel(g, input_type(graph, node), node.attributes.flag("bias"), node)
                    : weight_gradient_in_slabs(graph, node, fewest);
    const std::int64_t slabs = slab_count(graph, node, fewest * kernel->workspace_bytes());
    return slabs <= fewest ? std::move(kernel) : weight_gradient_in_slabs(graph, node, slabs);
  });
}

}  // namespace voxswap::net::onednn
