// Sums of channels over planes and over volumes, and the sum over blocks of planes.
#include "net/backends/onednn/plane_sums.h"

#include <vector>

#include "net/backends/convolution/weight_gradient.h"
#include "net/graph/block_sums.h"

namespace voxswap::net::onednn {

namespace {

template <class T>
void sum_channels(const KernelArguments& arguments, const RowLayout& layout, const SumPlaces& places,
                  double* to) {
  sum_planes<1>(layout, ChannelSums<T>{input<T>(arguments, 0)}, place<double>(arguments, places.sums), to,
                [](std::int64_t, std::int64_t, double*) {});
}

std::unique_ptr<Kernel> make_channel_sums(const Graph& graph, const Node& node, Sums what) {
  const RowLayout layout = plane_layout(input_shape(graph, node));
  const SumPlaces places(layout, 1);
  return make_sums(
      graph, node, places, what,
      [=]<class T>(T, const KernelArguments& arguments, double* planes) {
        sum_channels<T>(arguments, layout, places, planes);
      },
      [=](const double* planes, float* sums) { add_channels(layout, planes, sums); });
}

}  // namespace

std::unique_ptr<Kernel> make_channel_sum(const Graph& graph, const Node& node) {
  return make_channel_sums(graph, node, Sums::of_samples);
}
std::unique_ptr<Kernel> make_channel_plane_sums(const Graph& graph, const Node& node) {
  return make_channel_sums(graph, node, Sums::of_planes);
}

// Sums over blocks of planes (net/graph/block_sums.h) from a volume's slabs.
std::unique_ptr<Kernel> make_total(const Graph& graph, const Node& node) {
  if (graph.value(node.outputs[0]).type != ElementType::f32) return by_reference(graph, node);
  const std::int64_t count = input_shape(graph, node).count_from(1);
  std::vector<std::int64_t> rows_of;  // per input
  for (std::size_t i = 0; i < node.inputs.size(); ++i) rows_of.push_back(input_shape(graph, node, i)[0]);
  const Total total = total_of(rows_of, node.attributes);
  std::vector<const float*> rows(total.rows.size());
  std::vector<float*> outputs(total.outputs.size());
  constexpr std::int64_t grain = 4096;
  return make_pass([=](const KernelArguments& arguments) mutable {
    auto row = rows.begin();
    for (std::size_t i = 0; i < rows_of.size(); ++i)
      for (std::int64_t k = 0; k < rows_of[i]; ++k) *row++ = input<float>(arguments, i) + k * count;
    for (std::size_t i = 0; i < outputs.size(); ++i)
      outputs[i] = output<float>(arguments) + static_cast<std::int64_t>(i) * count;
    parallel(count, grain, [&](std::int64_t begin, std::int64_t end) {
      convolution::add_rows(total, rows, outputs, begin, end);
    });
  });
}

}  // namespace voxswap::net::onednn
