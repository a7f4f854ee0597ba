// Gradients of a convolution by oneDNN: with respect to its input (also the transposed convolution), and to
// its weights and bias, which are converted from the library's format to the graph's.
#include <algorithm>
#include <limits>

#include "base/keys.h"
#include "base/text.h"
#include "net/backends/onednn/convolution.h"
#include "net/backends/onednn/kernels.h"

namespace voxswap::net::onednn {

namespace {

using dnnl::memory;
constexpr auto direct = dnnl::algorithm::convolution_direct;

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
    const void* weights = weights_.ready(arguments, input<float>(arguments, 1));
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
    return {{direct, g.x, g.weights, g.y, g.strides, g.dilation, g.padding, g.padding_end},
            own_scratchpad(),
            engine(),
            forward_description(g, Start::zero)};
  }
  DataGradient(const Geometry& g, const Description& description, const Shape& dx, bool bias)
      : implementation_(description.impl_info_str()),
        bias_(bias),
        layout_(row_layout(dx)),
        weights_(g.plain_weights, description.weights_desc(), false, plan_),
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
    const Backward::desc description = bias ? Backward::desc(direct, g.x, g.full_weights, g.bias, g.y,
                                                             g.strides, g.dilation, g.padding, g.padding_end)
                                            : Backward::desc(direct, g.x, g.full_weights, g.y, g.strides,
                                                             g.dilation, g.padding, g.padding_end);
    return {description, own_scratchpad(), engine(), forward_description(g, Start::zero)};
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
    const dnnl::reorder::primitive_desc back(engine(), made, engine(), g.plain_weights, own_scratchpad());
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

}  // namespace

// For bf16, oneDNN 2.6 transposes x and dy of a whole sample in blocks of 16 channels, with rows padded by
// less than 128 elements. It computes the elements of a block and their bytes as int without checking for
// overflow, which makes the scratchpad too small or its description garbage.
std::int64_t most_planes(std::int64_t height, std::int64_t width, ElementType type) {
  constexpr std::int64_t channels = 16, fill = 128;
  const std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (type != ElementType::bf16) return most;
  return most / (channels * height * (width + fill) * element_bytes(type));
}

std::unique_ptr<Kernel> weight_gradient_kernel(const Geometry& g, ElementType type, bool bias,
                                               const Node& node) {
  for (const memory::desc& volume : {g.x, g.y}) {
    const memory::dims size = volume.dims();
    if (size[2] > most_planes(size[3], size[4], type))
      fail(Exit::does_not_fit,
           "node {}: oneDNN's weight gradients in bf16 do not support {} of {} x {}. Use smaller "
           "volumes ({} or {}) or patches ({}), or set {}=f32",
           node.name, counted(size[2], "plane"), size[3], counted(size[4], "voxel"),
           key::preprocess_resolution, key::preprocess_spacing, key::training_patch, key::training_precision);
  }
  return std::make_unique<WeightGradient>(g, bias);
}

std::unique_ptr<Kernel> data_gradient_kernel(const Geometry& g, const Shape& dx, ElementType type, bool bias,
                                             const Node& node) {
  return for_type(type, node, [&]<class T>(T) -> std::unique_ptr<Kernel> {
    return std::make_unique<DataGradient<T>>(g, dx, bias);
  });
}

}  // namespace voxswap::net::onednn
