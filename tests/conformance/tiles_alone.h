// A backend that supports only our own convolutions with tiles, also if the processor has no tiles.
#pragma once

#include "net/backends/convolution/volume_convolution.h"
#include "net/backends/convolution/weight_gradient.h"
#include "net/backends/cpu/host_device.h"
#include "net/backends/onednn/kernels.h"
#include "net/graph/graph.h"
#include "net/graph/operation.h"

namespace voxswap::net {

class TilesAlone final : public HostBackend {
 public:
  explicit TilesAlone(convolution::Instructions instructions) : instructions_(instructions) {}
  std::string name() const override { return "tiles alone"; }
  std::string description() const override { return name(); }
  bool supports(ElementType type) const override { return type == ElementType::bf16; }
  ElementType fastest_type() const override { return ElementType::bf16; }

  // REQUIRES: compiles(graph, node).
  std::unique_ptr<Kernel> compile(const Graph& graph, const Node& node) override {
    using namespace convolution;
    if (node.attributes.flag("moments")) {
      const Graph plain = onednn::without_moments(graph, node);
      return onednn::make_with_moments(graph, node, compile(plain, plain.node(0)));
    }
    if (is_weight_gradient(node))
      return make_weight_gradient(weight_gradient(graph, node), ElementType::bf16, instructions_);
    const bool is_sum = node.operation->name == "conv3d_sum";
    const Added added = is_sum ? Added::volume : node.inputs.size() > 2 ? Added::bias : Added::nothing;
    return make_volume_convolution(*sizes(graph, node), ElementType::bf16, instructions_, added);
  }
  // Whether there is a kernel for the node: there is none for bias gradients.
  static bool compiles(const Graph& graph, const Node& node) {
    if (is_weight_gradient(node)) {
      const convolution::WeightGradientNode made = weight_gradient(graph, node);
      return !node.attributes.flag("bias") &&
             convolution::cut_weight_gradient(made.sizes, made.blocks).has_value();
    }
    return sizes(graph, node).has_value();
  }

 private:
  static bool is_weight_gradient(const Node& node) {
    return node.operation->name == "conv3d_weight_gradient";
  }
  static const Shape& shape(const Graph& graph, ValueId id) { return graph.value(id).shape; }
  static convolution::WeightGradientNode weight_gradient(const Graph& graph, const Node& node) {
    const Shape& dy = shape(graph, node.inputs[1]);
    return convolution::weight_gradient_node(shape(graph, node.inputs[0]), dy, kernel_axes(node.attributes),
                                             sum_blocks(node.attributes, dy[1]), ElementType::bf16);
  }
  static std::optional<convolution::VolumeSizes> sizes(const Graph& graph, const Node& node) {
    return convolution::volume_sizes(shape(graph, node.inputs[0]), shape(graph, node.outputs[0]),
                                     kernel_axes(node.attributes, shape(graph, node.inputs[1])),
                                     node.operation->name == "conv3d_data_gradient");
  }

  convolution::Instructions instructions_;
};

}  // namespace voxswap::net
