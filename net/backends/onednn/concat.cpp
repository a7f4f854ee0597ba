// Concatenation and split. The reference backend pads with zeros.
#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/passes.h"

namespace voxswap::net::onednn {

namespace {

// Copies `bytes` of every row between strided locations.
struct CopyRows {
  const std::byte* from;
  std::byte* to;
  std::int64_t bytes, from_stride, to_stride;

  VOXSWAP_INLINE void operator()(std::int64_t row) const {
    copy_bytes(to + row * to_stride, from + row * from_stride, bytes);
  }
};
struct CopyTwo {
  CopyRows a, b;
  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t row = begin; row < end; ++row) {
      a(row);
      b(row);
    }
  }
};
}  // namespace

std::unique_ptr<Kernel> make_concat(const Graph& graph, const Node& node) {
  const std::int64_t axis = node.attributes.integer("axis"), size = element_bytes(input_type(graph, node));
  const std::int64_t a = input_shape(graph, node, 0).count_from(axis) * size;
  const std::int64_t b = input_shape(graph, node, 1).count_from(axis) * size;
  const std::int64_t rows = graph.value(node.inputs[0]).bytes() / a;
  return make_pass([=](const KernelArguments& arguments) {
    auto* y = output<std::byte>(arguments);
    const CopyRows left{input<std::byte>(arguments, 0), y, a, a, a + b};
    const CopyRows right{input<std::byte>(arguments, 1), y + a, b, b, a + b};
    parallel(rows, rows_at_once(a + b), CopyTwo{left, right});
  });
}

std::unique_ptr<Kernel> make_split(const Graph& graph, const Node& node) {
  const std::int64_t axis = node.attributes.integer("axis"), size = element_bytes(input_type(graph, node));
  const std::int64_t both = input_shape(graph, node).count_from(axis) * size;
  const std::int64_t a = output_shape(graph, node).count_from(axis) * size, b = both - a;
  const std::int64_t rows = graph.value(node.inputs[0]).bytes() / both;
  return make_pass([=](const KernelArguments& arguments) {
    const auto* x = input<std::byte>(arguments, 0);
    const CopyRows left{x, output<std::byte>(arguments, 0), a, both, a};
    const CopyRows right{x + a, output<std::byte>(arguments, 1), b, both, b};
    parallel(rows, rows_at_once(both), CopyTwo{left, right});
  });
}

}  // namespace voxswap::net::onednn
