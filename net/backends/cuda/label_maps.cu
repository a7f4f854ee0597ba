// Label maps (net/ops/label_maps.cpp): one thread decides a voxel, one block counts the pairs of a plane.
// Counts are integers, so the order in which threads add them does not matter.
#include "net/backends/cuda/kernels.h"
#include "net/backends/cuda/launch.cuh"

namespace voxswap::net::cuda {

namespace {

using Label = std::uint16_t;

// `table`: label and order of each channel.
__global__ void decode_labels(std::int64_t voxels, int channels, int nested, float least,
                              const float* probabilities, const double* table, Label* labels) {
  const std::int64_t voxel = index_of_thread();
  if (voxel >= voxels) return;
  const float* p = probabilities + voxel * channels;
  int decided = -1;
  double last = -1;
  float largest = 0;
  for (int c = 0; c < nested; ++c)
    if (p[c] >= least && table[2 * c + 1] > last) {
      decided = c;
      last = table[2 * c + 1];
    }
  for (int c = nested; c < channels; ++c)
    if (p[c] > largest) {
      largest = p[c];
      if (p[c] >= least) decided = c;
    }
  labels[voxel] = decided < 0 ? Label{0} : static_cast<Label>(table[2 * decided]);
}

// The label values that are counted.
struct Values {
  const double* list;
  std::int64_t count;

  __device__ std::int64_t find(Label label) const {
    std::int64_t i = 0;
    while (i < count && list[i] != label) ++i;
    return i;
  }
  // The number of a pair, or -1.
  __device__ std::int64_t pair(Label truth, Label label) const {
    const std::int64_t row = find(truth), column = find(label);
    return row < count && column < count ? row * count + column : -1;
  }
};

constexpr int pairs_at_once = 4096;  // counters in shared memory

// Counts the pairs of plane blockIdx.x. A thread adds up equal pairs before it adds them to the counters.
__global__ void count_pairs(std::int64_t voxels, const Label* truth, const Label* labels, Values values,
                            double* counts) {
  __shared__ unsigned counters[pairs_at_once];
  const std::int64_t pairs = values.count * values.count, plane = blockIdx.x;
  truth += plane * voxels;
  labels += plane * voxels;
  for (std::int64_t first = 0; first < pairs; first += pairs_at_once) {
    const std::int64_t here = pairs - first < pairs_at_once ? pairs - first : pairs_at_once;
    for (std::int64_t i = threadIdx.x; i < here; i += blockDim.x) counters[i] = 0;
    __syncthreads();
    Label t = 0, l = 0;
    std::int64_t pair = -1;  // of t and l, within the counters
    unsigned run = 0;
    for (std::int64_t voxel = threadIdx.x; voxel < voxels; voxel += blockDim.x) {
      if (run == 0 || truth[voxel] != t || labels[voxel] != l) {
        if (pair >= 0 && pair < here) atomicAdd(counters + pair, run);
        t = truth[voxel];
        l = labels[voxel];
        pair = values.pair(t, l) - first;
        run = 0;
      }
      ++run;
    }
    if (pair >= 0 && pair < here) atomicAdd(counters + pair, run);
    __syncthreads();
    for (std::int64_t i = threadIdx.x; i < here; i += blockDim.x)
      counts[plane * pairs + first + i] = counters[i];
    __syncthreads();
  }
}

// One thread per sample and pair.
__global__ void add_planes(std::int64_t results, std::int64_t depth, std::int64_t pairs, const double* planes,
                           double* counts) {
  const std::int64_t i = index_of_thread();
  if (i >= results) return;
  double sum = 0;
  for (std::int64_t z = 0; z < depth; ++z) sum += planes[(i / pairs * depth + z) * pairs + i % pairs];
  counts[i] = sum;
}

void count_pairs_of_planes(const KernelArguments& arguments, const Shape& shape, std::int64_t count,
                           double* counts) {
  launch("confusion_plane_sums", count_pairs, dim3(static_cast<unsigned>(shape[0] * shape[1])), block_threads,
         shape[2] * shape[3], input<Label>(arguments, 0), input<Label>(arguments, 1),
         Values{input<double>(arguments, 2), count}, counts);
}

}  // namespace

std::unique_ptr<Kernel> make_decode_labels(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, input_type(graph, node));
  const Shape& x = input_shape(graph, node);
  const std::int64_t channels = x[4], voxels = x.count() / channels,
                     nested = node.attributes.integer("nested");
  const double least = node.attributes.real("least");
  return make_own([=](const KernelArguments& arguments) {
    launch("decode_labels", decode_labels, blocks_for(voxels), block_threads, voxels, channels, nested, least,
           input<float>(arguments, 0), input<double>(arguments, 1), output<Label>(arguments));
  });
}

std::unique_ptr<Kernel> make_confusion_plane_sums(const Graph& graph, const Node& node, Device&) {
  const Shape shape = input_shape(graph, node);
  const std::int64_t count = input_shape(graph, node, 2)[0];
  return make_own([=](const KernelArguments& arguments) {
    count_pairs_of_planes(arguments, shape, count, output<double>(arguments));
  });
}

std::unique_ptr<Kernel> make_confusion_matrix(const Graph& graph, const Node& node, Device&) {
  const Shape shape = input_shape(graph, node);
  const std::int64_t count = input_shape(graph, node, 2)[0], pairs = count * count;
  return make_own(
      [=](const KernelArguments& arguments) {
        auto* const planes = place<double>(arguments, 0);
        count_pairs_of_planes(arguments, shape, count, planes);
        launch("confusion_matrix", add_planes, blocks_for(shape[0] * pairs), block_threads, shape[0] * pairs,
               shape[1], pairs, planes, output<double>(arguments));
      },
      shape[0] * shape[1] * pairs * static_cast<std::int64_t>(sizeof(double)));
}

}  // namespace voxswap::net::cuda
