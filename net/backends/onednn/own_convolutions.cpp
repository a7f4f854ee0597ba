#include <algorithm>

#include "net/backends/convolution/volume_convolution.h"
#include "net/backends/convolution/weight_gradient.h"
#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/passes.h"
#include "net/graph/graph.h"
#include "net/graph/operation.h"
#include "net/graph/window.h"

namespace voxswap::net::onednn {

namespace {

// A weight gradient and the sums of dy for the bias, over the same blocks of planes.
template <class T>
class WithBias final : public Kernel {
 public:
  WithBias(std::unique_ptr<Kernel> of_weights, const Shape& dy, const convolution::WeightGradientNode& node)
      : of_weights_(std::move(of_weights)),
        layout_(plane_layout(dy)),
        depth_(dy[1]),
        blocks_(node.blocks),
        apart_(node.apart),
        dy_(node.dy),
        inner_(plan_.book(of_weights_->workspace_bytes())),
        sums_(plan_.book(sums_bytes(layout_, 1))),
        of_blocks_(plan_.book(blocks_.here * layout_.channels * static_cast<std::int64_t>(sizeof(double)))),
        rounded_(plan_.book(blocks_.here * layout_.channels * static_cast<std::int64_t>(sizeof(float)))),
        total_(total_of_blocks(node.first_of_nodes.value_or(0), blocks_.here,
                               node.first_of_nodes.has_value())) {}
  std::int64_t workspace_bytes() const override { return plan_.bytes(); }
  std::string implementation() const override { return of_weights_->implementation(); }
  void run(const KernelArguments& arguments) override {
    KernelArguments part = arguments;
    part.workspace = place<std::byte>(arguments, inner_);
    of_weights_->run(part);
    const std::int64_t channels = layout_.channels;
    auto* const of_blocks = place<double>(arguments, of_blocks_);
    std::fill_n(of_blocks, blocks_.here * channels, 0.0);
    sum_over_voxels<1>(layout_, ChannelSums<T>{input<T>(arguments, dy_)}, place<double>(arguments, sums_),
                       [&](std::int64_t plane, std::int64_t channel, const double* sum) {
                         of_blocks[plane % depth_ / blocks_.planes * channels + channel] += *sum;
                       });
    float* db = output<float>(arguments, 1);
    if (apart_) {
      std::copy_n(of_blocks, blocks_.here * channels, db);
      return;
    }
    auto* const rounded = place<float>(arguments, rounded_);
    std::copy_n(of_blocks, blocks_.here * channels, rounded);
    std::vector<const float*> rows;
    for (std::int64_t block = 0; block < blocks_.here; ++block) rows.push_back(rounded + block * channels);
    std::vector<float*> totals;
    for (std::size_t i = 0; i < total_.outputs.size(); ++i)
      totals.push_back(db + static_cast<std::int64_t>(i) * channels);
    convolution::add_rows(total_, rows, totals, 0, channels);
  }

 private:
  WorkspacePlan plan_;
  std::unique_ptr<Kernel> of_weights_;
  RowLayout layout_;
  std::int64_t depth_;
  SumBlocks blocks_;
  bool apart_;
  std::size_t dy_;
  std::int64_t inner_, sums_, of_blocks_, rounded_;
  Total total_;
};

// Planes of a window of slabs, whose first is input `first`.
std::vector<convolution::PlaneOfX> planes_of(const Graph& graph, const Window& window, std::size_t first) {
  const std::vector<ValueId>& slabs = window.slabs.front();
  std::vector<convolution::PlaneOfX> planes;
  for (std::int64_t n = 0; n < graph.value(slabs.front()).shape[0]; ++n) {
    std::int64_t skipped = -window.skip;
    for (std::size_t i = 0; i < slabs.size(); ++i) {
      const Value& slab = graph.value(slabs[i]);
      const std::int64_t depth = slab.shape[1];
      const std::vector<convolution::PlaneOfX> all =
          convolution::planes_of_x(slab.shape, slab.type, first + i);
      for (std::int64_t z = 0; z < depth; ++z, ++skipped)
        if (skipped >= 0 && skipped < window.planes)
          planes.push_back(all[static_cast<std::size_t>(n * depth + z)]);
    }
  }
  return planes;
}

// Nullopt if the library is to be used.
std::optional<convolution::Instructions> own_instructions(ElementType type) {
  if (type != ElementType::f32 && type != ElementType::bf16) return std::nullopt;
  return convolution::chosen_instructions(type);
}

// Whether the library's routine for one tap gives slabs the same bits as whole volumes. With AVX2 it sums the
// channels of a data gradient in an order that depends on the number of voxels, if there are 32 or more
// channels or a stride. Found with oneDNN 2.6.3; our own kernel takes 1.6 to 1.8 times as long there.
bool keeps_order_in_library(convolution::Instructions instructions, const KernelAxes& axes,
                            const Shape& weights, bool gradient) {
  constexpr std::int64_t many_channels = 32;
  const bool wide =
      instructions != convolution::Instructions::avx2 && instructions != convolution::Instructions::portable;
  const bool strided =
      std::any_of(axes.begin(), axes.end(), [](const KernelAxis& axis) { return axis.stride > 1; });
  return wide || !gradient || (!strided && weights[0] < many_channels);
}

// For kernels with one tap, the library is as fast as memory allows.
std::unique_ptr<Kernel> own_volume(const Graph& graph, const Node& node, bool gradient,
                                   convolution::Added added) {
  const ElementType type = input_type(graph, node);
  const auto instructions = own_instructions(type);
  const KernelAxes axes = kernel_axes(node.attributes, input_shape(graph, node, 1));
  const Shape& weights = input_shape(graph, node, 1);
  if (!instructions) return nullptr;
  if (taps(axes) == 1 && keeps_order_in_library(*instructions, axes, weights, gradient)) return nullptr;
  const auto sizes =
      convolution::volume_sizes(input_shape(graph, node), output_shape(graph, node), axes, gradient);
  if (!sizes) return nullptr;
  return convolution::make_volume_convolution(*sizes, type, *instructions, added);
}

}  // namespace

bool has_own_convolutions(ElementType type) {
  return own_instructions(type).has_value();
}

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
  const bool on_window = node.operation->inner != nullptr;  // then dy comes first
  Shape x = input_shape(graph, node, on_window ? 1 : 0);
  const Shape& dy = input_shape(graph, node, on_window ? 0 : 1);
  const Window window =
      on_window ? window_of(node.operation->inner(), node.inputs, node.attributes) : Window();
  if (on_window) x[1] = window.planes;
  convolution::WeightGradientNode made = convolution::weight_gradient_node(
      x, dy, kernel_axes(node.attributes), sum_blocks(node.attributes, dy[1]), type);
  if (on_window) {
    made.dy = 0;
    made.x = planes_of(graph, window, 1);
    made.apart = !node.attributes.flag("nodes");
    if (!made.apart) made.first_of_nodes = node.attributes.integer("first");
  }
  if (!instructions || !convolution::cut_weight_gradient(made.sizes, made.blocks)) return nullptr;
  std::unique_ptr<Kernel> of_weights = convolution::make_weight_gradient(made, type, *instructions);
  if (!node.attributes.flag("bias")) return of_weights;
  return for_type(type, node, [&]<class T>(T) -> std::unique_ptr<Kernel> {
    return std::make_unique<WithBias<T>>(std::move(of_weights), dy, made);
  });
}

}  // namespace voxswap::net::onednn
