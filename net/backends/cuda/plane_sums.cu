// Sums of channels; sums over planes (net/ops/plane_sums.cpp), and the sums of windowed results. The latter
// are small: the slabs' sums are gathered, and one thread adds up each result.
#include <cuda_runtime_api.h>

#include "net/backends/cuda/kernels.h"
#include "net/backends/cuda/launch.cuh"
#include "net/backends/cuda/passes.cuh"
#include "net/backends/cuda/runtime.h"
#include "net/backends/cuda/weights.h"
#include "net/graph/block_sums.h"

namespace voxswap::net::cuda {

// Sums of channels, in one pass over memory.

namespace {

struct TakeSum {
  float* sums;
  __device__ void operator()(std::int64_t, int channel, const double (&found)[1]) const {
    sums[channel] = static_cast<float>(found[0]);
  }
};

struct TakePlaneSum {
  double* sums;
  int channels;
  __device__ void operator()(std::int64_t plane, int channel, const double (&found)[1]) const {
    sums[plane * channels + channel] = found[0];
  }
};

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

// Sums over planes.

namespace {

// [N,D,C,kinds] in the workspace, gathered from slabs [N,d,C,kinds].
struct Planes {
  std::int64_t samples = 1, depth = 0, channels = 1, kinds = 1;
  std::vector<std::int64_t> depths;  // of the slabs

  Planes(const Graph& graph, const Node& node) {
    const Shape& first = input_shape(graph, node);
    samples = first[0];
    channels = first[2];
    kinds = first[3];
    for (const ValueId id : node.inputs) {
      depths.push_back(graph.value(id).shape[1]);
      depth += depths.back();
    }
  }
  std::int64_t plane() const { return channels * kinds; }
  std::int64_t bytes() const { return samples * depth * plane() * static_cast<std::int64_t>(sizeof(double)); }
  const double* gathered(const KernelArguments& arguments) const {
    double* to = place<double>(arguments, 0);
    std::int64_t from = 0;
    for (std::size_t i = 0; i < depths.size(); from += depths[i++])
      for (std::int64_t n = 0; n < samples; ++n)
        check(cudaMemcpyAsync(to + (n * depth + from) * plane(),
                              input<double>(arguments, i) + n * depths[i] * plane(),
                              static_cast<std::size_t>(depths[i] * plane()) * sizeof(double),
                              cudaMemcpyDeviceToDevice, current_stream()),
              "cudaMemcpyAsync");
    return to;
  }
};

// One thread per channel and kind, for each sample, or for all samples together.
template <class T>
__global__ void add_planes(const double* planes, std::int64_t samples, std::int64_t depth, std::int64_t plane,
                           bool over_samples, T* to) {
  const std::int64_t i = index_of_thread();
  if (i >= (over_samples ? plane : samples * plane)) return;
  double all = 0;
  for (std::int64_t n = over_samples ? 0 : i / plane; n < (over_samples ? samples : i / plane + 1); ++n) {
    double sum = 0;
    for (std::int64_t z = 0; z < depth; ++z) sum += planes[(n * depth + z) * plane + i % plane];
    all += sum;
  }
  to[i] = static_cast<T>(all);
}

// One thread per sample and channel.
template <class T>
__global__ void mean_of_planes(const double* planes, std::int64_t instances, std::int64_t depth,
                               std::int64_t channels, double voxels, T* to) {
  const std::int64_t i = index_of_thread();
  if (i >= instances) return;
  double sum = 0;
  for (std::int64_t z = 0; z < depth; ++z)
    sum += planes[(i / channels * depth + z) * channels + i % channels];
  set_rounded(to[i], static_cast<float>(sum / voxels));
}

// One thread per sample and channel.
__global__ void statistics_of_planes(const double* planes, std::int64_t instances, std::int64_t depth,
                                     std::int64_t channels, double voxels, double epsilon, float* to) {
  const std::int64_t i = index_of_thread();
  if (i >= instances) return;
  double count = 0, mean = 0, squares = 0;  // as Moments (net/backends/moments.h) adds them
  for (std::int64_t z = 0; z < depth; ++z) {
    const double* pair = planes + 2 * ((i / channels * depth + z) * channels + i % channels);
    const double difference = pair[0] - mean;
    mean += difference / (count + 1);
    squares += pair[1] + difference * difference * voxels * (count / (count + 1));
    count += 1;
  }
  to[2 * i] = static_cast<float>(mean);
  to[2 * i + 1] = static_cast<float>(1 / sqrt(squares / (count * voxels) + epsilon));
}

// sum = a + b, or a copy of a if b is null.
__global__ void add_two(std::int64_t count, const float* a, const float* b, float* sum) {
  const std::int64_t i = index_of_thread();
  if (i < count) sum[i] = b != nullptr ? a[i] + b[i] : a[i];
}

// Adds rows as `total` says. While there are more sums than outputs, the others are in scratch memory.
class TotalKernel final : public Kernel {
 public:
  TotalKernel(const Graph& graph, const Node& node) : count_(input_shape(graph, node).count_from(1)) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) rows_.push_back(input_shape(graph, node, i)[0]);
    total_ = total_of(rows_, node.attributes);
    std::size_t now = 0, most = 0;
    for (const int additions : total_.additions) {
      most = std::max(most, ++now);
      now -= static_cast<std::size_t>(additions);
    }
    scratch_ = static_cast<std::int64_t>(most - std::min(most, total_.outputs.size()));
  }
  std::int64_t workspace_bytes() const override {
    return scratch_ * count_ * static_cast<std::int64_t>(sizeof(float));
  }
  std::string implementation() const override { return "own"; }
  void run(const KernelArguments& arguments) override {
    std::vector<const float*> sums;
    std::size_t row = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i)
      for (std::int64_t k = 0; k < rows_[i]; ++k, ++row) {
        sums.push_back(input<float>(arguments, i) + k * count_);
        for (int additions = total_.additions[row]; additions > 0; --additions) {
          const float* const last = sums.back();
          sums.pop_back();
          sums.back() = add(arguments, sums.size() - 1, sums.back(), last);
        }
      }
    for (std::size_t i = 0; i < sums.size(); ++i)
      if (sums[i] != place_of(arguments, i)) add(arguments, i, sums[i], nullptr);
  }

 private:
  float* place_of(const KernelArguments& arguments, std::size_t sum) const {
    const std::size_t outputs = total_.outputs.size();
    float* const first = sum < outputs ? output<float>(arguments) : static_cast<float*>(arguments.workspace);
    return first + static_cast<std::int64_t>(sum < outputs ? sum : sum - outputs) * count_;
  }
  const float* add(const KernelArguments& arguments, std::size_t sum, const float* a, const float* b) const {
    float* const to = place_of(arguments, sum);
    launch("total", add_two, blocks_for(count_), block_threads, count_, a, b, to);
    return to;
  }

  Total total_;
  std::int64_t count_, scratch_ = 0;
  std::vector<std::int64_t> rows_;  // per input
};

}  // namespace

std::unique_ptr<Kernel> make_add_planes(const Graph& graph, const Node& node, Device&) {
  const bool counts = graph.value(node.outputs[0]).type == ElementType::f64;
  if (!counts) need_f32(node.name, graph.value(node.outputs[0]).type);
  const Planes planes(graph, node);
  const bool over_samples = planes.kinds == 1;
  const std::int64_t threads = output_shape(graph, node).count();
  const auto make = [&]<class T>(T) {
    return make_own(
        [=](const KernelArguments& arguments) {
          launch("add_planes", add_planes<T>, blocks_for(threads), block_threads, planes.gathered(arguments),
                 planes.samples, planes.depth, planes.plane(), over_samples, output<T>(arguments));
        },
        planes.bytes());
  };
  return counts ? make(double{}) : make(float{});
}

std::unique_ptr<Kernel> make_statistics_of_planes(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, graph.value(node.outputs[0]).type);
  const Planes planes(graph, node);
  const double voxels = node.attributes.real("plane_voxels"), epsilon = node.attributes.real("epsilon");
  const std::int64_t instances = planes.samples * planes.channels;
  return make_own(
      [=](const KernelArguments& arguments) {
        launch("statistics_of_planes", statistics_of_planes, blocks_for(instances), block_threads,
               planes.gathered(arguments), instances, planes.depth, planes.channels, voxels, epsilon,
               output<float>(arguments));
      },
      planes.bytes());
}

std::unique_ptr<Kernel> make_mean_of_planes(const Graph& graph, const Node& node, Device&) {
  const Planes planes(graph, node);
  const double voxels = node.attributes.real("voxels");
  const std::int64_t instances = planes.samples * planes.channels;
  return for_type(graph.value(node.outputs[0]).type, node.name, [&]<class T>(T) {
    return make_own(
        [=](const KernelArguments& arguments) {
          launch("mean_of_planes", mean_of_planes<T>, blocks_for(instances), block_threads,
                 planes.gathered(arguments), instances, planes.depth, planes.channels, voxels,
                 output<T>(arguments));
        },
        planes.bytes());
  });
}

std::unique_ptr<Kernel> make_total(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, input_type(graph, node));
  return std::make_unique<TotalKernel>(graph, node);
}

}  // namespace voxswap::net::cuda
