// Sums over the voxels of each sample and channel, in one pass over memory each: norm statistics, the sums of
// the norm's backward pass, bias gradients.
#include "net/backends/cuda/kernels.h"
#include "net/backends/cuda/norm_parameters.cuh"
#include "net/backends/cuda/passes.cuh"
#include "net/backends/cuda/weights.h"

namespace voxswap::net::cuda {

namespace {

struct TakeSum {
  float* sums;
  __device__ void operator()(std::int64_t, int channel, const double (&found)[1]) const {
    sums[channel] = static_cast<float>(found[0]);
  }
};

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

struct TakePlaneSum {
  double* sums;
  int channels;
  __device__ void operator()(std::int64_t plane, int channel, const double (&found)[1]) const {
    sums[plane * channels + channel] = found[0];
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
struct ChannelSums {
  template <int width>
  void run(std::string_view name, const Rows& rows, const KernelArguments& arguments, double* written) const {
    run<width>(name, rows, input<T>(arguments, 0), written);
  }
  template <int width>
  void run(std::string_view name, const Rows& rows, const T* x, double* written) const {
    launch(name, channel_sums_of_blocks<width, T>, blocks_of(rows), rows.threads(), rows, x, written);
  }
};

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

// A pass that writes the sums of blocks, and a second one that passes them to `take(arguments)`.
template <class T, int kinds, class First, class Take>
std::unique_ptr<Kernel> make_sums(const std::string& name, const Rows& rows, First first, Take take) {
  const std::string finish = name + ", finish";
  return make_own(
      rows,
      [=](const KernelArguments& arguments) {
        double* written = place<double>(arguments, 0);
        for_width<T>(rows, [&]<int width>() { first.template run<width>(name, rows, arguments, written); });
        launch_finish<kinds>(finish, rows, written, take(arguments));
      },
      sums_bytes(rows, kinds));
}

template <class T>
Rows rows_of_channel_sums(const Device& device, std::int64_t voxels, std::int64_t channels) {
  return cut_rows(device, 1, voxels, channels, full_width<T>, of_a_sum);
}

}  // namespace

std::int64_t channel_sums_workspace(ElementType type, std::int64_t voxels, std::int64_t channels,
                                    const Device& device) {
  return for_type(type, "channel sums", [&]<class T>(T) {
    return sums_bytes(rows_of_channel_sums<T>(device, voxels, channels), 1);
  });
}

void channel_sums(const void* y, float* sums, ElementType type, std::int64_t voxels, std::int64_t channels,
                  void* workspace, const Device& device) {
  for_type(type, "channel sums", [&]<class T>(T) {
    const Rows rows = rows_of_channel_sums<T>(device, voxels, channels);
    auto* written = static_cast<double*>(workspace);
    for_width<T>(rows, [&]<int width>() {
      ChannelSums<T>{}.template run<width>("channel_sum", rows, static_cast<const T*>(y), written);
    });
    launch_finish<1>("channel_sum, finish", rows, written, TakeSum{sums});
  });
}

std::unique_ptr<Kernel> make_channel_sum(const Graph& graph, const Node& node, Device& device) {
  const Shape& x = input_shape(graph, node);
  return for_type(input_type(graph, node), node.name, [&]<class T>(T) {
    const Rows rows = rows_of_channel_sums<T>(device, x.count() / x[4], x[4]);
    return make_sums<T, 1>("channel_sum", rows, ChannelSums<T>{}, [](const KernelArguments& arguments) {
      return TakeSum{output<float>(arguments)};
    });
  });
}

std::unique_ptr<Kernel> make_channel_plane_sums(const Graph& graph, const Node& node, Device& device) {
  return for_type(input_type(graph, node), node.name, [&]<class T>(T) {
    const Rows rows = cut_planes(device, input_shape(graph, node), full_width<T>, of_a_sum);
    return make_sums<T, 1>("channel_plane_sums", rows, ChannelSums<T>{},
                           [=](const KernelArguments& arguments) {
                             return TakePlaneSum{output<double>(arguments), rows.channels};
                           });
  });
}

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
