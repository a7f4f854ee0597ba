// Sums over planes (net/ops/plane_sums.cpp), and the sums of windowed results. They are small: the slabs'
// sums are gathered, and one thread adds up each result.
#include <cuda_runtime_api.h>

#include "net/backends/cuda/kernels.h"
#include "net/backends/cuda/launch.cuh"
#include "net/backends/cuda/runtime.h"

namespace voxswap::net::cuda {

namespace {

// [N,D,C,kinds] in the workspace, of the pieces [N,d,C,kinds].
struct Planes {
  std::int64_t samples = 1, depth = 0, channels = 1, kinds = 1;
  std::vector<std::int64_t> depths;  // of the pieces

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

// A thread per channel and kind, of each sample, or of all where they are added too.
__global__ void add_planes(const double* planes, std::int64_t samples, std::int64_t depth, std::int64_t plane,
                           bool over_samples, float* to) {
  const std::int64_t i = index_of_thread();
  if (i >= (over_samples ? plane : samples * plane)) return;
  double all = 0;
  for (std::int64_t n = over_samples ? 0 : i / plane; n < (over_samples ? samples : i / plane + 1); ++n) {
    double sum = 0;
    for (std::int64_t z = 0; z < depth; ++z) sum += planes[(n * depth + z) * plane + i % plane];
    all += sum;
  }
  to[i] = static_cast<float>(all);
}

// A thread per sample and channel.
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

// A thread per sample and channel.
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

// Blocks of `count` sums, one behind the other, added up, and to `start` where it is not null.
__global__ void add_blocks(std::int64_t count, std::int64_t blocks, const float* from, const float* start,
                           float* sum) {
  const std::int64_t i = index_of_thread();
  if (i >= count) return;
  double all = start != nullptr ? start[i] : 0;
  for (std::int64_t block = 0; block < blocks; ++block) all += from[block * count + i];
  sum[i] = static_cast<float>(all);
}

}  // namespace

std::unique_ptr<Kernel> make_add_planes(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, graph.value(node.outputs[0]).type);
  const Planes planes(graph, node);
  const bool over_samples = planes.kinds == 1;
  const std::int64_t threads = output_shape(graph, node).count();
  return make_own(
      [=](const KernelArguments& arguments) {
        launch("add_planes", add_planes, blocks_for(threads), block_threads, planes.gathered(arguments),
               planes.samples, planes.depth, planes.plane(), over_samples, output<float>(arguments));
      },
      planes.bytes());
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
  const std::int64_t count = output_shape(graph, node).count();
  std::vector<std::int64_t> blocks;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) blocks.push_back(input_shape(graph, node, i)[0]);
  return make_own([count, blocks](const KernelArguments& arguments) {
    float* sum = output<float>(arguments);
    for (std::size_t i = 0; i < blocks.size(); ++i)
      launch("total", add_blocks, blocks_for(count), block_threads, count, blocks[i],
             input<float>(arguments, i), i == 0 ? nullptr : static_cast<const float*>(sum), sum);
  });
}

}  // namespace voxswap::net::cuda
