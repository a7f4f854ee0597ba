// Elementwise operations, operations without inputs, and the sum of data of two ranks.
#include "base/philox.h"
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

// Operations without inputs.

namespace {

__global__ void fill(float* to, float value) {
  *to = value;
}

__global__ void dropout_scale(float* scale, std::int64_t count, Philox random, double rate) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count)
    scale[i] =
        random.uniform(static_cast<std::uint64_t>(i)) < rate ? 0.0f : static_cast<float>(1 / (1 - rate));
}

}  // namespace

std::unique_ptr<Kernel> make_constant(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, graph.value(node.outputs[0]).type);
  const float value = static_cast<float>(node.attributes.real("value"));
  return make_own([value](const KernelArguments& arguments) {
    launch("constant", fill, dim3(1), 1, output<float>(arguments), value);
  });
}

std::unique_ptr<Kernel> make_spatial_dropout_scale(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, graph.value(node.outputs[0]).type);
  const std::int64_t count = output_shape(graph, node).count();
  const auto key = static_cast<std::uint32_t>(node.attributes.integer("key"));
  const double rate = node.attributes.real("rate");
  return make_own([=](const KernelArguments& arguments) {
    const Philox random(arguments.context->seed, static_cast<std::uint64_t>(arguments.context->step), key);
    launch("spatial_dropout_scale", dropout_scale, blocks_for(count), block_threads, output<float>(arguments),
           count, random, rate);
  });
}

// The sum of data of two ranks.

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
