// Instance norm, leaky ReLU, dropout scale and residual in one pass, and the gradient of all of them in
// another.
#include "net/backends/cuda/norm_parameters.cuh"
#include "net/backends/cuda/own_kernels.h"

namespace voxswap::net::cuda {

namespace {

template <int width, bool has_residual, class T>
__global__ void norm_activation(Rows rows, NormInputs<T> inputs, const T* residual, T* y) {
  const NormParameters<width> norm(rows, inputs);
  const std::int64_t start = sample_start(rows) * width;
  struct Loaded {
    Vector<T, width> x, residual;
  };
  go_down<2>(
      walk_of_thread(rows),
      [&](std::int64_t vector) {
        Loaded loaded;
        loaded.x = load<width>(inputs.x + start, vector);
        if constexpr (has_residual) loaded.residual = load<width>(residual + start, vector);
        return loaded;
      },
      [&](std::int64_t vector, const Loaded& loaded) {
        Vector<T, width> result;
#pragma unroll
        for (int lane = 0; lane < width; ++lane) {
          const float z = norm.z(lane, to_float(loaded.x.lane[lane]) - norm.mean[lane]);
          float value = (z > 0.0f ? z : z * norm.slope) * norm.scale[lane];
          if constexpr (has_residual) value += to_float(loaded.residual.lane[lane]);
          set_rounded(result.lane[lane], value);
        }
        store(y + start, vector, result);
      });
}

// dx = factor (dz - mean(dz) - (x - mean) mean(dz xhat) / deviation). A thread finds the means of its
// channels anew, for as few as one voxel: so by a product in f32, with the reciprocal of the number of
// voxels.
template <int width, class T>
__global__ void norm_activation_gradient(Rows rows, NormInputs<T> inputs, const T* dy, const float* sums,
                                         float per_voxel, T* dx) {
  const NormParameters<width> norm(rows, inputs);
  float constant[width], rate[width];
#pragma unroll
  for (int lane = 0; lane < width; ++lane) {
    const std::int64_t i =
        2 * (static_cast<std::int64_t>(blockIdx.z) * rows.channels + channel_of_lane<width>(rows, lane));
    constant[lane] = sums[i] * per_voxel;
    rate[lane] = sums[i + 1] * per_voxel * inputs.statistics[i + 1];
  }
  const std::int64_t start = sample_start(rows) * width;
  struct Loaded {
    Vector<T, width> x, dy;
  };
  go_down<2>(
      walk_of_thread(rows),
      [&](std::int64_t vector) {
        return Loaded{load<width>(inputs.x + start, vector), load<width>(dy + start, vector)};
      },
      [&](std::int64_t vector, const Loaded& loaded) {
        Vector<T, width> result;
#pragma unroll
        for (int lane = 0; lane < width; ++lane) {
          const float difference = to_float(loaded.x.lane[lane]) - norm.mean[lane];
          const float dz = to_float(loaded.dy.lane[lane]) * norm.derivative(lane, difference);
          set_rounded(result.lane[lane], norm.factor[lane] * (dz - constant[lane] - difference * rate[lane]));
        }
        store(dx + start, vector, result);
      });
}

__global__ void norm_parameter_gradient(const float* sums, int samples, int channels, float* dgamma,
                                        float* dbeta) {
  const int channel = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (channel >= channels) return;
  double gamma = 0, beta = 0;
  for (int sample = 0; sample < samples; ++sample) {
    const float* pair = sums + 2 * (static_cast<std::int64_t>(sample) * channels + channel);
    beta += pair[0];
    gamma += pair[1];
  }
  dgamma[channel] = static_cast<float>(gamma);
  dbeta[channel] = static_cast<float>(beta);
}

}  // namespace

std::unique_ptr<Kernel> make_norm_activation(const Graph& graph, const Node& node, Device& device) {
  const NormAttributes norm(node, 4);
  const bool has_residual = node.attributes.flag("has_residual");
  return for_type(input_type(graph, node), node.name, [&]<class T>(T) {
    const Rows rows = cut_rows(device, input_shape(graph, node), full_width<T>, rows_of_a_map);
    return make_own(rows, [=](const KernelArguments& arguments) {
      const T* residual = has_residual ? input<T>(arguments, arguments.inputs.size() - 1) : nullptr;
      for_width<T>(rows, [&]<int width>() {
        const auto kernel = has_residual ? norm_activation<width, true, T> : norm_activation<width, false, T>;
        launch("norm_activation", kernel, blocks_of(rows), rows.threads(), rows, norm.inputs<T>(arguments),
               residual, output<T>(arguments));
      });
    });
  });
}

std::unique_ptr<Kernel> make_norm_activation_gradient(const Graph& graph, const Node& node, Device& device) {
  const NormAttributes norm(node, 6);
  const Shape& shape = input_shape(graph, node);
  const auto per_voxel = static_cast<float>(1.0 / node.attributes.real("voxels"));
  return for_type(input_type(graph, node), node.name, [&]<class T>(T) {
    const Rows rows = cut_rows(device, shape, full_width<T>, rows_of_a_map);
    return make_own(rows, [=](const KernelArguments& arguments) {
      for_width<T>(rows, [&]<int width>() {
        launch("norm_activation_gradient", norm_activation_gradient<width, T>, blocks_of(rows),
               rows.threads(), rows, norm.inputs<T>(arguments), input<T>(arguments, 4),
               input<float>(arguments, 5), per_voxel, output<T>(arguments));
      });
    });
  });
}

std::unique_ptr<Kernel> make_norm_parameter_gradient(const Graph& graph, const Node& node, Device&) {
  const int samples = static_cast<int>(input_shape(graph, node)[0]);
  const int channels = static_cast<int>(input_shape(graph, node)[1]);
  return make_own([=](const KernelArguments& arguments) {
    launch("norm_parameter_gradient", norm_parameter_gradient, blocks_for(channels), block_threads,
           input<float>(arguments, 0), samples, channels, output<float>(arguments),
           output<float>(arguments, 1));
  });
}

}  // namespace voxswap::net::cuda
