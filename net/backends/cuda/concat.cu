// Concatenation, split and zero padding.
#include <numeric>

#include "net/backends/cuda/kernels.h"
#include "net/backends/cuda/launch.cuh"

namespace voxswap::net::cuda {

namespace {

// Rows of `a` and `b` together form rows of `whole`. One thread per unit of it.
template <bool joins, class Unit, class Index>
__global__ void move(Index units, Index row_of_a, Index row_of_b, Unit* a, Unit* b, Unit* whole) {
  const std::int64_t at = index_of_thread();
  if (at >= static_cast<std::int64_t>(units)) return;
  Index row = static_cast<Index>(at);
  const std::int64_t column = take_axis(row, static_cast<Index>(row_of_a + row_of_b));
  const std::int64_t r = static_cast<std::int64_t>(row), wide_a = static_cast<std::int64_t>(row_of_a),
                     wide_b = static_cast<std::int64_t>(row_of_b);
  Unit& part = column < wide_a ? a[r * wide_a + column] : b[r * wide_b + column - wide_a];
  if constexpr (joins) {
    whole[at] = part;
  } else {
    part = whole[at];
  }
}

// Rows of y are rows of x followed by zeros. One thread per unit of y.
template <class Unit, class Index>
__global__ void zero_pad(Index units, Index row_of_x, Index row_of_y, const Unit* x, Unit* y) {
  const std::int64_t at = index_of_thread();
  if (at >= static_cast<std::int64_t>(units)) return;
  Index row = static_cast<Index>(at);
  const std::int64_t column = take_axis(row, row_of_y), wide = static_cast<std::int64_t>(row_of_x);
  y[at] = column < wide ? x[static_cast<std::int64_t>(row) * wide + column] : Unit{};
}

template <bool joins>
std::unique_ptr<Kernel> make_move(const Shape& a, const Shape& b, ElementType type, std::int64_t axis) {
  const std::int64_t bytes_a = a.count_from(axis) * element_bytes(type);
  const std::int64_t bytes_b = b.count_from(axis) * element_bytes(type);
  const std::int64_t bytes = (a.count() + b.count()) * element_bytes(type);
  return make_own([=](const KernelArguments& arguments) {
    for_unit(std::gcd(bytes_a, bytes_b), [&]<class Unit>(Unit) {
      const std::int64_t size = sizeof(Unit), units = bytes / size;
      const auto part = [&](std::size_t i) {
        return static_cast<Unit*>(joins ? arguments.inputs[i] : arguments.outputs[i]);
      };
      Unit* whole = static_cast<Unit*>(joins ? arguments.outputs[0] : arguments.inputs[0]);
      for_index(units, [&]<class Index>() {
        launch(joins ? "concat" : "split", move<joins, Unit, Index>, blocks_for(units), block_threads, units,
               bytes_a / size, bytes_b / size, part(0), part(1), whole);
      });
    });
  });
}

}  // namespace

std::unique_ptr<Kernel> make_concat(const Graph& graph, const Node& node, Device&) {
  return make_move<true>(input_shape(graph, node, 0), input_shape(graph, node, 1), input_type(graph, node),
                         node.attributes.integer("axis"));
}

std::unique_ptr<Kernel> make_zero_pad(const Graph& graph, const Node& node, Device&) {
  const std::int64_t axis = node.attributes.integer("axis"), bytes = element_bytes(input_type(graph, node));
  const std::int64_t row_of_x = input_shape(graph, node).count_from(axis) * bytes;
  const std::int64_t row_of_y = output_shape(graph, node).count_from(axis) * bytes;
  const std::int64_t all = output_shape(graph, node).count() * bytes;
  return make_own([=](const KernelArguments& arguments) {
    for_unit(std::gcd(row_of_x, row_of_y), [&]<class Unit>(Unit) {
      const std::int64_t size = sizeof(Unit), units = all / size;
      for_index(units, [&]<class Index>() {
        launch("zero_pad", zero_pad<Unit, Index>, blocks_for(units), block_threads, units, row_of_x / size,
               row_of_y / size, input<Unit>(arguments, 0), output<Unit>(arguments));
      });
    });
  });
}

std::unique_ptr<Kernel> make_split(const Graph& graph, const Node& node, Device&) {
  return make_move<false>(output_shape(graph, node, 0), output_shape(graph, node, 1), input_type(graph, node),
                          node.attributes.integer("axis"));
}

}  // namespace voxswap::net::cuda
