// Convolution and its gradients by oneDNN: activations in N,D,H,W,C, weights in whatever format the library
// likes best, reordered from and to the graph's plain O,I,D,H,W in f32 on every run (they are small beside
// the activations). All temporaries lie in the kernel's workspace.
#include <dnnl.hpp>
#include <optional>

#include "base/error.h"
#include "net/backends/onednn/element_types.h"
#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/passes.h"
#include "net/backends/onednn/primitive.h"

namespace voxswap::onednn {

namespace {

using dnnl::memory;
using Tag = memory::format_tag;
constexpr auto direct = dnnl::algorithm::convolution_direct;

// The descriptions of a convolution y = w * x that its three kernels share.
struct Geometry {
  memory::desc x, y, plain_weights, weights, full_weights,
      bias;  // weights: of the activations' type, any format
  memory::dims strides, padding;
};

memory::data_type library_type(ElementType type, const Node& node) {
  if (type == ElementType::f32) return memory::data_type::f32;
  if (type == ElementType::bf16) return memory::data_type::bf16;
  fail(Exit::failed, "node {}: the onednn backend convolves in f32 and bf16, not in {}", node.name,
       element_name(type));
}

memory::dims channels_second(const Shape& shape) {
  return {shape[0], shape[4], shape[1], shape[2], shape[3]};
}

Geometry geometry(const Shape& x, const Shape& y, const Shape& w, ElementType type, const Node& node) {
  const memory::data_type activations = library_type(type, node), full = memory::data_type::f32;
  const memory::dims weights(w.extents().begin(), w.extents().end());
  const std::int64_t stride = node.attributes.integer("stride"), padding = node.attributes.integer("padding");
  Geometry g;
  g.x = {channels_second(x), activations, Tag::ndhwc};
  g.y = {channels_second(y), activations, Tag::ndhwc};
  g.plain_weights = {weights, full, Tag::oidhw};
  g.weights = {weights, activations, Tag::any};
  g.full_weights = {weights, full, Tag::any};
  g.bias = {{w[0]}, full, Tag::a};
  g.strides = {stride, stride, stride};
  g.padding = {padding, padding, padding};
  return g;
}

dnnl::primitive_attr attributes() {
  dnnl::primitive_attr result;
  result.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return result;
}

dnnl::convolution_forward::primitive_desc forward(const Geometry& g, bool bias) {
  using Forward = dnnl::convolution_forward;
  const auto kind = dnnl::prop_kind::forward_training;
  const Forward::desc description =
      bias ? Forward::desc(kind, direct, g.x, g.weights, g.bias, g.y, g.strides, g.padding, g.padding)
           : Forward::desc(kind, direct, g.x, g.weights, g.y, g.strides, g.padding, g.padding);
  return {description, attributes(), engine()};
}

// Weights in the library's format: a place in the workspace and the reorder that fills it, or neither where
// the format is the graph's own.
class ReorderedWeights {
 public:
  ReorderedWeights(const memory::desc& plain, const memory::desc& wanted, WorkspacePlan& plan) {
    if (plain == wanted) return;
    place_ = plan.book(static_cast<std::int64_t>(wanted.get_size()));
    const dnnl::reorder::primitive_desc description(engine(), plain, engine(), wanted, attributes());
    reorder_.emplace(dnnl::reorder(description), description.scratchpad_desc(), plan);
    from_ = reorder_->argument(DNNL_ARG_FROM, plain);
    to_ = reorder_->argument(DNNL_ARG_TO, wanted);
  }
  const void* ready(const KernelArguments& arguments, const void* plain) {
    if (!reorder_) return plain;
    reorder_->point(from_, plain);
    reorder_->point(to_, place<std::byte>(arguments, place_));
    reorder_->run(arguments);
    return place<std::byte>(arguments, place_);
  }

 private:
  std::int64_t place_ = 0;
  std::optional<Primitive> reorder_;
  std::size_t from_ = 0, to_ = 0;
};

class Convolution final : public Kernel {
 public:
  Convolution(const Geometry& g, bool bias) : Convolution(g, forward(g, bias), bias) {}
  std::int64_t workspace_bytes() const override { return plan_.bytes(); }
  std::string implementation() const override { return implementation_; }
  void run(const KernelArguments& arguments) override {
    const void* weights = weights_.ready(arguments, arguments.inputs[1]);
    primitive_.point(x_, arguments.inputs[0]);
    primitive_.point(w_, weights);
    if (bias_) primitive_.point(b_, arguments.inputs[2]);
    primitive_.point(y_, arguments.outputs[0]);
    primitive_.run(arguments);
  }

 private:
  Convolution(const Geometry& g, const dnnl::convolution_forward::primitive_desc& description, bool bias)
      : implementation_(description.impl_info_str()),
        bias_(bias),
        weights_(g.plain_weights, description.weights_desc(), plan_),
        primitive_(dnnl::convolution_forward(description), description.scratchpad_desc(), plan_) {
    x_ = primitive_.argument(DNNL_ARG_SRC, g.x);
    w_ = primitive_.argument(DNNL_ARG_WEIGHTS, description.weights_desc());
    if (bias) b_ = primitive_.argument(DNNL_ARG_BIAS, g.bias);
    y_ = primitive_.argument(DNNL_ARG_DST, g.y);
  }
  WorkspacePlan plan_;
  std::string implementation_;
  bool bias_;
  ReorderedWeights weights_;
  Primitive primitive_;
  std::size_t x_ = 0, w_ = 0, b_ = 0, y_ = 0;
};

// Adds the bias of its channel to every element.
template <class T>
struct AddBias {
  T* x;
  const float* bias;
  template <class V>
  VOXSWAP_INLINE void rows(const Rows& at) const {
    for (std::int64_t row = 0; row < at.rows; ++row) {
      for (std::int64_t c = 0; c < at.wide; c += lanes<V>) {
        T* element = x + at.offset + row * at.wide + c;
        store(element, V(load<V>(element) + load<V>(bias + at.parameters + c)));
      }
    }
  }
};

template <class T>
class DataGradient final : public Kernel {
  using Description = dnnl::convolution_backward_data::primitive_desc;

 public:
  DataGradient(const Geometry& g, const Shape& dx, bool bias) : DataGradient(g, describe(g), dx, bias) {}
  std::int64_t workspace_bytes() const override { return plan_.bytes(); }
  std::string implementation() const override { return implementation_; }
  void run(const KernelArguments& arguments) override {
    const void* weights = weights_.ready(arguments, arguments.inputs[1]);
    primitive_.point(dy_, arguments.inputs[0]);
    primitive_.point(w_, weights);
    primitive_.point(dx_, arguments.outputs[0]);
    primitive_.run(arguments);
    if (!bias_) return;
    const float* bias = input<float>(arguments, 2);
    float* expanded = place<float>(arguments, bias_place_);
    expand(expanded, layout_, [&](std::int64_t, std::int64_t channel) { return bias[channel]; });
    for_each_chunk(layout_, AddBias<T>{output<T>(arguments), expanded});
  }

 private:
  static Description describe(const Geometry& g) {
    return {{direct, g.x, g.weights, g.y, g.strides, g.padding, g.padding},
            attributes(),
            engine(),
            forward(g, false)};
  }
  DataGradient(const Geometry& g, const Description& description, const Shape& dx, bool bias)
      : implementation_(description.impl_info_str()),
        bias_(bias),
        layout_(row_layout(dx)),
        weights_(g.plain_weights, description.weights_desc(), plan_),
        primitive_(dnnl::convolution_backward_data(description), description.scratchpad_desc(), plan_) {
    dy_ = primitive_.argument(DNNL_ARG_DIFF_DST, g.y);
    w_ = primitive_.argument(DNNL_ARG_WEIGHTS, description.weights_desc());
    dx_ = primitive_.argument(DNNL_ARG_DIFF_SRC, g.x);
    if (bias) bias_place_ = plan_.book(expanded_bytes(layout_));
  }
  WorkspacePlan plan_;
  std::string implementation_;
  bool bias_;
  RowLayout layout_;
  ReorderedWeights weights_;
  Primitive primitive_;
  std::size_t dy_ = 0, w_ = 0, dx_ = 0;
  std::int64_t bias_place_ = 0;
};

class WeightGradient final : public Kernel {
  using Description = dnnl::convolution_backward_weights::primitive_desc;

 public:
  WeightGradient(const Geometry& g, bool bias) : WeightGradient(g, describe(g, bias), bias) {}
  std::int64_t workspace_bytes() const override { return plan_.bytes(); }
  std::string implementation() const override { return implementation_; }
  void run(const KernelArguments& arguments) override {
    void* own = reorder_ ? place<std::byte>(arguments, place_) : arguments.outputs[0];
    primitive_.point(x_, arguments.inputs[0]);
    primitive_.point(dy_, arguments.inputs[1]);
    primitive_.point(dw_, own);
    if (bias_) primitive_.point(db_, arguments.outputs[1]);
    primitive_.run(arguments);
    if (!reorder_) return;
    reorder_->point(from_, own);
    reorder_->point(to_, arguments.outputs[0]);
    reorder_->run(arguments);
  }

 private:
  static Description describe(const Geometry& g, bool bias) {
    using Backward = dnnl::convolution_backward_weights;
    const Backward::desc description =
        bias ? Backward::desc(direct, g.x, g.full_weights, g.bias, g.y, g.strides, g.padding, g.padding)
             : Backward::desc(direct, g.x, g.full_weights, g.y, g.strides, g.padding, g.padding);
    return {description, attributes(), engine(), forward(g, false)};
  }
  WeightGradient(const Geometry& g, const Description& description, bool bias)
      : implementation_(description.impl_info_str()),
        bias_(bias),
        primitive_(dnnl::convolution_backward_weights(description), description.scratchpad_desc(), plan_) {
    const memory::desc made = description.diff_weights_desc();
    x_ = primitive_.argument(DNNL_ARG_SRC, g.x);
    dy_ = primitive_.argument(DNNL_ARG_DIFF_DST, g.y);
    dw_ = primitive_.argument(DNNL_ARG_DIFF_WEIGHTS, made);
    if (bias) db_ = primitive_.argument(DNNL_ARG_DIFF_BIAS, g.bias);
    if (made == g.plain_weights) return;
    place_ = plan_.book(static_cast<std::int64_t>(made.get_size()));
    const dnnl::reorder::primitive_desc back(engine(), made, engine(), g.plain_weights, attributes());
    reorder_.emplace(dnnl::reorder(back), back.scratchpad_desc(), plan_);
    from_ = reorder_->argument(DNNL_ARG_FROM, made);
    to_ = reorder_->argument(DNNL_ARG_TO, g.plain_weights);
  }
  WorkspacePlan plan_;
  std::string implementation_;
  bool bias_;
  Primitive primitive_;
  std::optional<Primitive> reorder_;
  std::int64_t place_ = 0;
  std::size_t x_ = 0, dy_ = 0, dw_ = 0, db_ = 0, from_ = 0, to_ = 0;
};

// oneDNN's own errors say nothing of the node.
template <class Make>
std::unique_ptr<Kernel> guarded(const Node& node, Make make) {
  try {
    return make();
  } catch (const dnnl::error& error) {
    fail(Exit::failed, "node {}: oneDNN cannot make this convolution ({})", node.name, error.what());
  }
}

}  // namespace

std::unique_ptr<Kernel> make_conv3d(const Graph& graph, const Node& node) {
  return guarded(node, [&] {
    const Geometry g = geometry(input_shape(graph, node, 0), output_shape(graph, node),
                                input_shape(graph, node, 1), input_type(graph, node), node);
    return std::make_unique<Convolution>(g, node.inputs.size() > 2);
  });
}

std::unique_ptr<Kernel> make_conv3d_data_gradient(const Graph& graph, const Node& node) {
  return guarded(node, [&] {
    const Shape& dx = output_shape(graph, node);
    const Geometry g =
        geometry(dx, input_shape(graph, node, 0), input_shape(graph, node, 1), input_type(graph, node), node);
    return for_type(input_type(graph, node), node, [&]<class T>(T) -> std::unique_ptr<Kernel> {
      return std::make_unique<DataGradient<T>>(g, dx, node.inputs.size() > 2);
    });
  });
}

std::unique_ptr<Kernel> make_conv3d_weight_gradient(const Graph& graph, const Node& node) {
  return guarded(node, [&] {
    const Geometry g = geometry(input_shape(graph, node, 0), input_shape(graph, node, 1),
                                output_shape(graph, node), input_type(graph, node), node);
    return std::make_unique<WeightGradient>(g, node.attributes.flag("bias"));
  });
}

}  // namespace voxswap::onednn
