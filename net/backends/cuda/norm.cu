// Instance norm and batch norm.
#include "net/backends/cuda/kernels.h"
#include "net/backends/cuda/launch.cuh"
#include "net/backends/cuda/norm_parameters.cuh"

namespace voxswap::net::cuda {

// Instance norm, leaky ReLU, dropout scale and residual in one pass, and the gradient of all of them in
// another.

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

// dx = factor (dz - mean(dz) - (x - mean) mean(dz xhat) / deviation). Each thread computes the means of its
// channels, possibly for a single voxel, so this is an f32 product with the reciprocal of the number of
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
    const Rows rows = cut_rows(device, input_shape(graph, node), full_width<T>, of_a_map);
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
    const Rows rows = cut_rows(device, shape, full_width<T>, of_a_map);
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

// Statistics and sums of a batch from those of its samples, and running statistics (net/ops/batch_norm.cpp):
// one thread per channel, in double.

namespace {

__global__ void pool_statistics(const float* each, std::int64_t samples, std::int64_t channels,
                                double epsilon, float* all) {
  const std::int64_t c = index_of_thread();
  if (c >= channels) return;
  double mean = 0, variance = 0;
  for (std::int64_t n = 0; n < samples; ++n) mean += each[2 * (n * channels + c)];
  mean /= static_cast<double>(samples);
  for (std::int64_t n = 0; n < samples; ++n) {
    const double factor = each[2 * (n * channels + c) + 1];
    const double difference = each[2 * (n * channels + c)] - mean;
    variance += 1 / (factor * factor) - epsilon + difference * difference;
  }
  const double factor = 1 / sqrt(variance / static_cast<double>(samples) + epsilon);
  for (std::int64_t n = 0; n < samples; ++n) {
    all[2 * (n * channels + c)] = static_cast<float>(mean);
    all[2 * (n * channels + c) + 1] = static_cast<float>(factor);
  }
}

__global__ void add_samples(const float* each, std::int64_t samples, std::int64_t size, float* all) {
  const std::int64_t i = index_of_thread();
  if (i >= size) return;
  double sum = 0;
  for (std::int64_t n = 0; n < samples; ++n) sum += each[n * size + i];
  for (std::int64_t n = 0; n < samples; ++n) all[n * size + i] = static_cast<float>(sum);
}

__global__ void running_statistics(const float* mean, const float* variance, std::int64_t instances,
                                   std::int64_t channels, double epsilon, float* statistics) {
  const std::int64_t i = index_of_thread();
  if (i >= instances) return;
  statistics[2 * i] = mean[i % channels];
  statistics[2 * i + 1] = static_cast<float>(1 / sqrt(variance[i % channels] + epsilon));
}

struct RunningRule {
  double momentum, unbiased, epsilon;
};

__global__ void update_running(const float* statistics, std::int64_t channels, RunningRule rule, float* mean,
                               float* variance) {
  const std::int64_t c = index_of_thread();
  if (c >= channels) return;
  const double factor = statistics[2 * c + 1], found = rule.unbiased * (1 / (factor * factor) - rule.epsilon);
  mean[c] = static_cast<float>(mean[c] + rule.momentum * (static_cast<double>(statistics[2 * c]) - mean[c]));
  variance[c] = static_cast<float>(variance[c] + rule.momentum * (found - variance[c]));
}

}  // namespace

std::unique_ptr<Kernel> make_statistics_of_batch(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, input_type(graph, node));
  const Shape& each = input_shape(graph, node);
  const std::int64_t samples = each[0], channels = each[1];
  const double epsilon = node.attributes.real("epsilon");
  return make_own([=](const KernelArguments& arguments) {
    launch("statistics_of_batch", pool_statistics, blocks_for(channels), block_threads,
           input<float>(arguments, 0), samples, channels, epsilon, output<float>(arguments));
  });
}

std::unique_ptr<Kernel> make_sums_of_batch(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, input_type(graph, node));
  const Shape& each = input_shape(graph, node);
  const std::int64_t samples = each[0], size = each[1] * each[2];
  return make_own([=](const KernelArguments& arguments) {
    launch("sums_of_batch", add_samples, blocks_for(size), block_threads, input<float>(arguments, 0), samples,
           size, output<float>(arguments));
  });
}

std::unique_ptr<Kernel> make_running_statistics(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, input_type(graph, node));
  const Shape& statistics = output_shape(graph, node);
  const std::int64_t instances = statistics[0] * statistics[1], channels = statistics[1];
  const double epsilon = node.attributes.real("epsilon");
  return make_own([=](const KernelArguments& arguments) {
    launch("running_statistics", running_statistics, blocks_for(instances), block_threads,
           input<float>(arguments, 0), input<float>(arguments, 1), instances, channels, epsilon,
           output<float>(arguments));
  });
}

std::unique_ptr<Kernel> make_running_statistics_update(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, input_type(graph, node));
  const std::int64_t channels = input_shape(graph, node)[1];
  const double count = node.attributes.real("count");
  const RunningRule rule = {node.attributes.real("momentum"), count > 1 ? count / (count - 1) : 1,
                            node.attributes.real("epsilon")};
  return make_own([=](const KernelArguments& arguments) {
    launch("running_statistics_update", update_running, blocks_for(channels), block_threads,
           input<float>(arguments, 0), channels, rule, static_cast<float*>(arguments.updates[0]),
           static_cast<float*>(arguments.updates[1]));
  });
}

}  // namespace voxswap::net::cuda
