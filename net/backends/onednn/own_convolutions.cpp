#include "net/backends/onednn/own_convolutions.h"

#include <algorithm>

#include "net/backends/convolution/volume_convolution.h"
#include "net/backends/convolution/weight_gradient.h"
#include "net/backends/onednn/element_types.h"
#include "net/backends/onednn/library.h"
#include "net/backends/onednn/passes.h"
#include "net/graph/graph.h"
#include "net/graph/operation.h"

namespace voxswap::net::onednn {

namespace {

// A weight gradient and the sum of dy for the bias.
template <class T>
class WithBias final : public Kernel {
 public:
  WithBias(std::unique_ptr<Kernel> of_weights, const Shape& dy)
      : of_weights_(std::move(of_weights)),
        layout_(row_layout(dy)),
        inner_(plan_.book(of_weights_->workspace_bytes())),
        sums_(plan_.book(sums_bytes(layout_, 1))) {}
  std::int64_t workspace_bytes() const override { return plan_.bytes(); }
  std::string implementation() const override { return of_weights_->implementation(); }
  void run(const KernelArguments& arguments) override {
    KernelArguments part = arguments;
    part.workspace = place<std::byte>(arguments, inner_);
    of_weights_->run(part);
    std::fill_n(output<float>(arguments, 1), layout_.channels, 0.0F);
    sum_over_voxels<1>(layout_, ChannelSums<T>{input<T>(arguments, 1)}, place<double>(arguments, sums_),
                       [&](std::int64_t, std::int64_t channel, const double* sum) {
                         output<float>(arguments, 1)[channel] += static_cast<float>(*sum);
                       });
  }

 private:
  WorkspacePlan plan_;
  std::unique_ptr<Kernel> of_weights_;
  RowLayout layout_;
  std::int64_t inner_, sums_;
};

// None where the library is to be used: for bf16 with AMX, unless our own are asked for by name, because
// those for AMX have not been measured against it yet.
std::optional<convolution::Instructions> own_instructions(ElementType type) {
  if (type != ElementType::f32 && type != ElementType::bf16) return std::nullopt;
  const auto instructions = convolution::chosen_instructions(type);
  const bool library = has_amx() && !convolution::are_instructions_forced() && type == ElementType::bf16;
  return library ? std::nullopt : instructions;
}

// Of kernels with one tap the library is at memory's speed.
std::unique_ptr<Kernel> own_volume(const Graph& graph, const Node& node, bool gradient,
                                   convolution::Added added) {
  const ElementType type = input_type(graph, node);
  const auto instructions = own_instructions(type);
  const KernelAxes axes = kernel_axes(node.attributes, input_shape(graph, node, 1));
  if (!instructions || taps(axes) == 1) return nullptr;
  const auto sizes =
      convolution::volume_sizes(input_shape(graph, node), output_shape(graph, node), axes, gradient);
  if (!sizes) return nullptr;
  return convolution::make_volume_convolution(*sizes, type, *instructions, added);
}

}  // namespace

std::unique_ptr<Kernel> own_convolution(const Graph& graph, const Node& node) {
  using convolution::Added;
  const bool sum = node.operation->name == "conv3d_sum", bias = node.inputs.size() > 2;
  return own_volume(graph, node, /*gradient=*/false,
                    sum    ? Added::volume
                    : bias ? Added::bias
                           : Added::nothing);
}

std::unique_ptr<Kernel> own_data_gradient(const Graph& graph, const Node& node) {
  using convolution::Added;
  return own_volume(graph, node, /*gradient=*/true, node.inputs.size() > 2 ? Added::bias : Added::nothing);
}

std::unique_ptr<Kernel> own_weight_gradient(const Graph& graph, const Node& node) {
  const ElementType type = input_type(graph, node);
  const auto instructions = own_instructions(type);
  const convolution::Sizes sizes = convolution::sizes_of(
      input_shape(graph, node, 0), input_shape(graph, node, 1), kernel_axes(node.attributes));
  if (!instructions || !convolution::cut_weight_gradient(sizes)) return nullptr;
  std::unique_ptr<Kernel> of_weights = convolution::make_weight_gradient(sizes, type, *instructions);
  if (!node.attributes.flag("bias")) return of_weights;
  return for_type(type, node, [&]<class T>(T) -> std::unique_ptr<Kernel> {
    return std::make_unique<WithBias<T>>(std::move(of_weights), input_shape(graph, node, 1));
  });
}

}  // namespace voxswap::net::onednn
