// Instance norm: its statistics, then leaky ReLU, dropout scale and residual in one pass, and the gradient of
// all of them in two more.
#include "net/backends/cuda/kernels.h"
#include "net/backends/cuda/launch.cuh"
#include "net/backends/cuda/norm_parameters.cuh"
#include "net/backends/cuda/passes.cuh"

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

// Sums over the voxels of each sample and channel, in one pass over memory each: norm statistics, and the
// sums of the norm's backward pass.

namespace {

// Sums of x and of its square. A thread subtracts its first value, which is near the mean compared with the
// spread of values, and shifts the sums back in double. So the variance is not a small difference of large
// numbers, and nothing is read twice.
template <int width, class T>
__global__ void moments_of_blocks(Rows rows, const T* x, double* written) {
  x += sample_start(rows) * width;
  const Walk walk = walk_of_thread(rows);
  float shift[width] = {}, sums[width] = {}, squares[width] = {};
  std::int64_t count = 0;
  if (walk.first < walk.end) {
    const Vector<T, width> first = load<width>(x, walk.first);
    for (int lane = 0; lane < width; ++lane) shift[lane] = to_float(first.lane[lane]);
  }
  go_down<4>(
      walk, [&](std::int64_t vector) { return load<width>(x, vector); },
      [&](std::int64_t, const Vector<T, width>& loaded) {
        ++count;
        for (int lane = 0; lane < width; ++lane) {
          const float difference = to_float(loaded.lane[lane]) - shift[lane];
          sums[lane] += difference;
          squares[lane] += difference * difference;
        }
      });
  double moments[2][width];
  for (int lane = 0; lane < width; ++lane) {
    const double s = shift[lane], sum = sums[lane], n = static_cast<double>(count);
    moments[0][lane] = sum + n * s;
    moments[1][lane] = squares[lane] + s * (2 * sum + n * s);
  }
  write_sums_of_block<width, 2>(rows, moments, written);
}

struct TakePlaneMoments {
  double* moments;
  int channels;
  double voxels;
  __device__ void operator()(std::int64_t plane, int channel, const double (&found)[2]) const {
    const double mean = found[0] / voxels, squares = found[1] - mean * found[0];
    double* pair = moments + 2 * (plane * channels + channel);
    pair[0] = mean;
    pair[1] = squares > 0 ? squares : 0;
  }
};

struct TakeStatistics {
  float* statistics;
  int channels;
  double voxels, epsilon;
  __device__ void operator()(std::int64_t sample, int channel, const double (&found)[2]) const {
    const double mean = found[0] / voxels, variance = found[1] / voxels - mean * mean;
    float* pair = statistics + 2 * (sample * channels + channel);
    pair[0] = static_cast<float>(mean);
    pair[1] = static_cast<float>(1 / sqrt((variance > 0 ? variance : 0) + epsilon));
  }
};

// Sums of dz and of dz (x - mean).
template <int width, class T>
__global__ void gradient_sums_of_blocks(Rows rows, NormInputs<T> inputs, const T* dy, double* written) {
  const NormParameters<width> norm(rows, inputs);
  const T* x = inputs.x + sample_start(rows) * width;
  dy += sample_start(rows) * width;
  struct Loaded {
    Vector<T, width> x, dy;
  };
  float sums[width] = {}, products[width] = {};
  go_down<2>(
      walk_of_thread(rows),
      [&](std::int64_t vector) {
        return Loaded{load<width>(x, vector), load<width>(dy, vector)};
      },
      [&](std::int64_t, const Loaded& loaded) {
        for (int lane = 0; lane < width; ++lane) {
          const float difference = to_float(loaded.x.lane[lane]) - norm.mean[lane];
          const float dz = to_float(loaded.dy.lane[lane]) * norm.derivative(lane, difference);
          sums[lane] += dz;
          products[lane] += dz * difference;
        }
      });
  double doubles[2][width];
  for (int lane = 0; lane < width; ++lane) {
    doubles[0][lane] = sums[lane];
    doubles[1][lane] = products[lane];
  }
  write_sums_of_block<width, 2>(rows, doubles, written);
}

struct TakeGradientSums {
  const float* statistics;
  float* sums;
  int channels;
  __device__ void operator()(std::int64_t sample, int channel, const double (&found)[2]) const {
    const std::int64_t i = 2 * (sample * channels + channel);
    sums[i] = static_cast<float>(found[0]);
    sums[i + 1] = static_cast<float>(found[1] * statistics[i + 1]);
  }
};

struct TakePlaneGradientSums {
  const float* statistics;
  double* sums;
  int channels, depth;
  __device__ void operator()(std::int64_t plane, int channel, const double (&found)[2]) const {
    double* pair = sums + 2 * (plane * channels + channel);
    pair[0] = found[0];
    pair[1] = found[1] * statistics[2 * (plane / depth * channels + channel) + 1];
  }
};

// First passes, with their inputs.
template <class T>
struct MomentSums {
  template <int width>
  void run(std::string_view name, const Rows& rows, const KernelArguments& arguments, double* written) const {
    launch(name, moments_of_blocks<width, T>, blocks_of(rows), rows.threads(), rows, input<T>(arguments, 0),
           written);
  }
};

template <class T>
struct GradientSums {
  NormAttributes norm;
  template <int width>
  void run(std::string_view name, const Rows& rows, const KernelArguments& arguments, double* written) const {
    launch(name, gradient_sums_of_blocks<width, T>, blocks_of(rows), rows.threads(), rows,
           norm.inputs<T>(arguments), input<T>(arguments, 4), written);
  }
};

}  // namespace

std::unique_ptr<Kernel> make_instance_norm_statistics(const Graph& graph, const Node& node, Device& device) {
  const Shape& shape = input_shape(graph, node);
  const double epsilon = node.attributes.real("epsilon");
  const double voxels = static_cast<double>(shape[1] * shape[2] * shape[3]);
  return for_type(input_type(graph, node), node.name, [&]<class T>(T) {
    const Rows rows = cut_rows(device, shape, full_width<T>, of_a_sum);
    return make_sums<T, 2>("instance_norm_statistics", rows, MomentSums<T>{},
                           [=](const KernelArguments& arguments) {
                             return TakeStatistics{output<float>(arguments), rows.channels, voxels, epsilon};
                           });
  });
}

std::unique_ptr<Kernel> make_plane_moments(const Graph& graph, const Node& node, Device& device) {
  const Shape& shape = input_shape(graph, node);
  const auto voxels = static_cast<double>(shape[2] * shape[3]);
  return for_type(input_type(graph, node), node.name, [&]<class T>(T) {
    const Rows rows = cut_planes(device, shape, full_width<T>, of_a_sum);
    return make_sums<T, 2>("plane_moments", rows, MomentSums<T>{}, [=](const KernelArguments& arguments) {
      return TakePlaneMoments{output<double>(arguments), rows.channels, voxels};
    });
  });
}

std::unique_ptr<Kernel> make_norm_activation_sums(const Graph& graph, const Node& node, Device& device) {
  const NormAttributes norm(node, 5);
  return for_type(input_type(graph, node), node.name, [&]<class T>(T) {
    const Rows rows = cut_rows(device, input_shape(graph, node), full_width<T>, of_a_sum);
    return make_sums<T, 2>(
        "norm_activation_sums", rows, GradientSums<T>{norm}, [=](const KernelArguments& arguments) {
          return TakeGradientSums{input<float>(arguments, 1), output<float>(arguments), rows.channels};
        });
  });
}

std::unique_ptr<Kernel> make_norm_activation_plane_sums(const Graph& graph, const Node& node,
                                                        Device& device) {
  const NormAttributes norm(node, 5);
  return for_type(input_type(graph, node), node.name, [&]<class T>(T) {
    const Rows rows = cut_planes(device, input_shape(graph, node), full_width<T>, of_a_sum);
    return make_sums<T, 2>(
        "norm_activation_plane_sums", rows, GradientSums<T>{norm}, [=](const KernelArguments& arguments) {
          return TakePlaneGradientSums{input<float>(arguments, 1), output<double>(arguments), rows.channels,
                                       rows.sharing};
        });
  });
}

}  // namespace voxswap::net::cuda
