// Elementwise operations, concatenation, split and zero padding, and the sum of data of two ranks.
#include <numeric>

#include "net/backends/cuda/kernels.h"
#include "net/backends/cuda/launch.cuh"
#include "net/backends/cuda/passes.cuh"
#include "net/backends/cuda/peers.h"
#include "net/graph/graph.h"
#include "net/graph/operation.h"

namespace voxswap::net::cuda {

namespace {

template <class T, int count>
struct Sources {
  const T* x[count];
};

// y = function(x[0], x[1], …). The first `rest` threads of the first block also process the remainder after
// the last whole vector.
template <int width, int count, class In, class Out, class Function>
__global__ void map(Rows rows, int rest, Sources<In, count> sources, Out* y, Function function) {
  struct Loaded {
    Vector<In, width> x[count];
  };
  go_down<count == 1 ? 4 : 2>(
      walk_of_thread(rows),
      [&](std::int64_t vector) {
        Loaded loaded;
#pragma unroll
        for (int i = 0; i < count; ++i) loaded.x[i] = load<width>(sources.x[i], vector);
        return loaded;
      },
      [&](std::int64_t vector, const Loaded& loaded) {
        Vector<Out, width> result;
#pragma unroll
        for (int lane = 0; lane < width; ++lane) {
          float values[count];
          for (int i = 0; i < count; ++i) values[i] = to_float(loaded.x[i].lane[lane]);
          set_rounded(result.lane[lane], function(values));
        }
        store(y, vector, result);
      });
  if (blockIdx.x == 0 && static_cast<int>(threadIdx.x) < rest) {
    const std::int64_t element = rows.vectors * width + threadIdx.x;
    float values[count];
    for (int i = 0; i < count; ++i) values[i] = to_float(sources.x[i][element]);
    set_rounded(y[element], function(values));
  }
}

struct LeakyRelu {
  float slope;
  __device__ float operator()(const float (&x)[1]) const { return x[0] > 0 ? x[0] : slope * x[0]; }
};
struct LeakyReluGradient {
  float slope;
  __device__ float operator()(const float (&y_dy)[2]) const {
    return y_dy[0] > 0 ? y_dy[1] : slope * y_dy[1];
  }
};
struct Sigmoid {
  __device__ float operator()(const float (&x)[1]) const { return 1 / (1 + expf(-x[0])); }
};
struct SigmoidGradient {
  __device__ float operator()(const float (&y_dy)[2]) const { return y_dy[1] * y_dy[0] * (1 - y_dy[0]); }
};
struct Add {
  __device__ float operator()(const float (&ab)[2]) const { return ab[0] + ab[1]; }
};
struct Same {
  __device__ float operator()(const float (&x)[1]) const { return x[0]; }
};

template <int count, class In, class Out, class Function>
std::unique_ptr<Kernel> make_map_between(const Graph& graph, const Node& node, const Device& device,
                                         Function function) {
  const std::int64_t elements = input_shape(graph, node).count();
  constexpr int width = full_width<In>;
  const Rows rows = cut_flat(device, elements, width);
  const int rest = static_cast<int>(elements % width);
  return make_own(rows, [=, name = std::string(node.operation->name)](const KernelArguments& arguments) {
    Sources<In, count> sources;
    for (int i = 0; i < count; ++i) sources.x[i] = input<In>(arguments, static_cast<std::size_t>(i));
    launch(name, map<width, count, In, Out, Function>, blocks_of(rows), rows.threads(), rows, rest, sources,
           output<Out>(arguments), function);
  });
}

template <int count, class Function>
std::unique_ptr<Kernel> make_map(const Graph& graph, const Node& node, const Device& device,
                                 Function function) {
  return for_type(input_type(graph, node), node.name,
                  [&]<class T>(T) { return make_map_between<count, T, T>(graph, node, device, function); });
}

float slope_of(const Node& node) {
  return static_cast<float>(node.attributes.real("slope"));
}

}  // namespace

std::unique_ptr<Kernel> make_leaky_relu(const Graph& graph, const Node& node, Device& device) {
  return make_map<1>(graph, node, device, LeakyRelu{slope_of(node)});
}
std::unique_ptr<Kernel> make_leaky_relu_gradient(const Graph& graph, const Node& node, Device& device) {
  return make_map<2>(graph, node, device, LeakyReluGradient{slope_of(node)});
}
std::unique_ptr<Kernel> make_sigmoid(const Graph& graph, const Node& node, Device& device) {
  return make_map<1>(graph, node, device, Sigmoid{});
}
std::unique_ptr<Kernel> make_sigmoid_gradient(const Graph& graph, const Node& node, Device& device) {
  return make_map<2>(graph, node, device, SigmoidGradient{});
}
std::unique_ptr<Kernel> make_add(const Graph& graph, const Node& node, Device& device) {
  return make_map<2>(graph, node, device, Add{});
}
std::unique_ptr<Kernel> make_cast(const Graph& graph, const Node& node, Device& device) {
  return for_type(input_type(graph, node), node.name, [&]<class In>(In) {
    return for_type(graph.value(node.outputs[0]).type, node.name, [&]<class Out>(Out) {
      return make_map_between<1, In, Out>(graph, node, device, Same{});
    });
  });
}

namespace {

// Rows of `a` and `b` together form rows of `whole`. One thread per unit of it.
template <bool joins, class Piece, class Index>
__global__ void move(Index pieces, Index row_of_a, Index row_of_b, Piece* a, Piece* b, Piece* whole) {
  const std::int64_t at = index_of_thread();
  if (at >= static_cast<std::int64_t>(pieces)) return;
  Index row = static_cast<Index>(at);
  const std::int64_t column = take_axis(row, static_cast<Index>(row_of_a + row_of_b));
  const std::int64_t r = static_cast<std::int64_t>(row), wide_a = static_cast<std::int64_t>(row_of_a),
                     wide_b = static_cast<std::int64_t>(row_of_b);
  Piece& part = column < wide_a ? a[r * wide_a + column] : b[r * wide_b + column - wide_a];
  if constexpr (joins) {
    whole[at] = part;
  } else {
    part = whole[at];
  }
}

// Rows of y are rows of x followed by zeros. One thread per unit of y.
template <class Piece, class Index>
__global__ void zero_pad(Index pieces, Index row_of_x, Index row_of_y, const Piece* x, Piece* y) {
  const std::int64_t at = index_of_thread();
  if (at >= static_cast<std::int64_t>(pieces)) return;
  Index row = static_cast<Index>(at);
  const std::int64_t column = take_axis(row, row_of_y), wide = static_cast<std::int64_t>(row_of_x);
  y[at] = column < wide ? x[static_cast<std::int64_t>(row) * wide + column] : Piece{};
}

template <bool joins>
std::unique_ptr<Kernel> make_move(const Shape& a, const Shape& b, ElementType type, std::int64_t axis) {
  const std::int64_t bytes_a = a.count_from(axis) * element_bytes(type);
  const std::int64_t bytes_b = b.count_from(axis) * element_bytes(type);
  const std::int64_t bytes = (a.count() + b.count()) * element_bytes(type);
  return make_own([=](const KernelArguments& arguments) {
    for_piece(std::gcd(bytes_a, bytes_b), [&]<class Piece>(Piece) {
      const std::int64_t size = sizeof(Piece), pieces = bytes / size;
      const auto part = [&](std::size_t i) {
        return static_cast<Piece*>(joins ? arguments.inputs[i] : arguments.outputs[i]);
      };
      Piece* whole = static_cast<Piece*>(joins ? arguments.outputs[0] : arguments.inputs[0]);
      for_index(pieces, [&]<class Index>() {
        launch(joins ? "concat" : "split", move<joins, Piece, Index>, blocks_for(pieces), block_threads,
               pieces, bytes_a / size, bytes_b / size, part(0), part(1), whole);
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
    for_piece(std::gcd(row_of_x, row_of_y), [&]<class Piece>(Piece) {
      const std::int64_t size = sizeof(Piece), pieces = all / size;
      for_index(pieces, [&]<class Index>() {
        launch("zero_pad", zero_pad<Piece, Index>, blocks_for(pieces), block_threads, pieces, row_of_x / size,
               row_of_y / size, input<Piece>(arguments, 0), output<Piece>(arguments));
      });
    });
  });
}

std::unique_ptr<Kernel> make_split(const Graph& graph, const Node& node, Device&) {
  return make_move<false>(output_shape(graph, node, 0), output_shape(graph, node, 1), input_type(graph, node),
                          node.attributes.integer("axis"));
}

namespace {

__global__ void add(float* to, const float* from, std::int64_t count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) to[i] += from[i];
}

}  // namespace

void add_floats(float* to, const float* from, std::int64_t count) {
  if (count > 0) launch("exchange", add, blocks_for(count), block_threads, to, from, count);
}

}  // namespace voxswap::net::cuda
