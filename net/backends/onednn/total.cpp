// The sum over blocks of planes (net/graph/sum_blocks.h) of a volume's slabs.
#include <utility>
#include <vector>

#include "net/backends/convolution/add_blocks.h"
#include "net/backends/onednn/element_types.h"
#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/passes.h"

namespace voxswap::net::onednn {

std::unique_ptr<Kernel> make_total(const Graph& graph, const Node& node) {
  if (graph.value(node.outputs[0]).type != ElementType::f32) return by_reference(graph, node);
  const std::int64_t count = output_shape(graph, node).count();
  std::vector<convolution::SumsOfBlocks> sums;
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    sums.push_back({nullptr, input_shape(graph, node, i)[0], count});
  constexpr std::int64_t grain = 4096;
  return make_pass([sums = std::move(sums), count](const KernelArguments& arguments) mutable {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i].first = input<float>(arguments, i);
    float* const to = output<float>(arguments);
    parallel(count, grain,
             [&](std::int64_t begin, std::int64_t end) { convolution::add_blocks(to, begin, end, sums); });
  });
}

}  // namespace voxswap::net::onednn
