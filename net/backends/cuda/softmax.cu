// Soft-max over the channels of a voxel, one thread per voxel, and the losses of exclusive classes.
#include <algorithm>

#include "net/backends/cuda/kernels.h"
#include "net/backends/cuda/launch.cuh"
#include "net/graph/loss_terms.h"

namespace voxswap::net::cuda {

namespace {

// For the probabilities of a voxel: exp(x_c - largest) / sum.
struct VoxelSoftmax {
  float largest, sum;
};
template <class T>
__device__ VoxelSoftmax look_at(const T* x, std::int64_t channels) {
  float largest = to_float(x[0]), sum = 0;
  for (std::int64_t c = 1; c < channels; ++c) largest = fmaxf(largest, to_float(x[c]));
  for (std::int64_t c = 0; c < channels; ++c) sum += expf(to_float(x[c]) - largest);
  return {largest, sum};
}
template <class T>
__device__ float probability(const VoxelSoftmax& voxel, const T* x) {
  return expf(to_float(*x) - voxel.largest) / voxel.sum;
}

template <class T>
__global__ void softmax(std::int64_t voxels, std::int64_t channels, const T* x, T* y) {
  const std::int64_t voxel = index_of_thread();
  if (voxel >= voxels) return;
  const T* from = x + voxel * channels;
  const VoxelSoftmax v = look_at(from, channels);
  for (std::int64_t c = 0; c < channels; ++c) set_rounded(y[voxel * channels + c], probability(v, from + c));
}

}  // namespace

std::unique_ptr<Kernel> make_softmax(const Graph& graph, const Node& node, Device&) {
  const Shape& x = input_shape(graph, node);
  const std::int64_t channels = x[4], voxels = x.count() / channels;
  return for_type(input_type(graph, node), node.name, [&]<class T>(T) {
    return make_own([=](const KernelArguments& arguments) {
      launch("softmax", softmax<T>, blocks_for(voxels), block_threads, voxels, channels,
             input<T>(arguments, 0), output<T>(arguments));
    });
  });
}

// Soft Dice and cross entropy of mutually exclusive classes (net/ops/softmax.cpp). A block reads some
// thousand voxels of a plane, keeps the normalisation of their probabilities, and processes one channel at a
// time. Blocks and planes are summed in order, in double.

namespace {

// The class of every voxel, in one byte or in two (little-endian).
struct Classes {
  const std::uint8_t* target;
  bool wide;

  __device__ int of(std::int64_t voxel) const {
    return wide ? target[2 * voxel] | target[2 * voxel + 1] << 8 : target[voxel];
  }
};
Classes classes_of(const KernelArguments& arguments, bool wide) {
  return {input<std::uint8_t>(arguments, 1), wide};
}
bool are_wide(const Graph& graph, const Node& node) {
  return graph.value(node.inputs[1]).shape.rank() == 5;
}

constexpr int kinds = 4;
constexpr int voxels_of_thread = 4;
constexpr std::int64_t voxels_of_block = voxels_of_thread * block_threads;

struct Planes {
  std::int64_t depth, voxels, channels;  // planes of a sample, voxels of a plane
  std::int64_t count, blocks;            // planes of all samples, blocks of a plane

  explicit Planes(const Shape& x)
      : depth(x[1]),
        voxels(x[2] * x[3]),
        channels(x[4]),
        count(x[0] * x[1]),
        blocks((voxels + voxels_of_block - 1) / voxels_of_block) {}
  std::int64_t bytes(std::int64_t each) const {
    return count * each * channels * kinds * static_cast<std::int64_t>(sizeof(double));
  }
};

// Cross entropy with terms (net/graph/loss_terms.h), of one class of a voxel.
struct Terms {
  float of_target, of_others, focus;  // desired probability of the target, and of the others

  Terms(const LossTerms& terms, std::int64_t channels)
      : of_target(static_cast<float>(1 - terms.smoothing + terms.smoothing / static_cast<double>(channels))),
        of_others(static_cast<float>(terms.smoothing / static_cast<double>(channels))),
        focus(static_cast<float>(terms.focus)) {}
  bool plain() const { return of_others == 0 && focus == 0; }
  __device__ float wanted(bool is_target) const { return is_target ? of_target : of_others; }
  __device__ float power(float p) const { return focus == 0 ? 1.0f : powf(fmaxf(1 - p, 0.0f), focus); }
  __device__ double entropy(bool is_target, float p, double minus_log) const {
    return static_cast<double>(wanted(is_target)) * power(p) * minus_log;
  }
  // Gradient with respect to log p. -log p / (1 - p) is computed by its series if p is almost 1.
  __device__ float gradient(bool is_target, float p, float minus_log) const {
    const float complement = 1 - p;
    const float ratio =
        complement > 1e-3f ? minus_log / complement : 1 + complement * (0.5f + complement / 3);
    return -wanted(is_target) * power(p) * (1 + focus * p * ratio);
  }
};

// Adds up the threads' sums of every kind; the result is at the first thread's index.
__device__ inline void add_threads(double (&shared)[kinds][block_threads], const double (&mine)[kinds]) {
  const int thread = static_cast<int>(threadIdx.x);
  for (int kind = 0; kind < kinds; ++kind) shared[kind][thread] = mine[kind];
  __syncthreads();
  for (int half = block_threads / 2; half > 0; half /= 2) {
    if (thread < half) {
      for (int kind = 0; kind < kinds; ++kind) shared[kind][thread] += shared[kind][thread + half];
    }
    __syncthreads();
  }
}

// written[planes][blocks][C][4]
template <bool plain, class T>
__global__ void sums_of_blocks(Planes planes, Terms terms, const T* logits, Classes target, double* written) {
  __shared__ double shared[kinds][block_threads];
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t plane =
      static_cast<std::int64_t>(blockIdx.y) + static_cast<std::int64_t>(blockIdx.z) * gridDim.y;
  if (plane >= planes.count) return;
  VoxelSoftmax softmax[voxels_of_thread];
  const T* x[voxels_of_thread];
  int of[voxels_of_thread];  // -1: excluded
  for (int k = 0; k < voxels_of_thread; ++k) {
    const std::int64_t at =
        static_cast<std::int64_t>(blockIdx.x) * voxels_of_block + k * block_threads + thread;
    const std::int64_t voxel = plane * planes.voxels + at;
    const bool looked_at = at < planes.voxels && target.of(voxel) < planes.channels;
    of[k] = looked_at ? target.of(voxel) : -1;
    if (!looked_at) continue;
    x[k] = logits + voxel * planes.channels;
    softmax[k] = look_at(x[k], planes.channels);
  }
  double* to = written + (plane * planes.blocks + blockIdx.x) * planes.channels * kinds;
  for (int c = 0; c < planes.channels; ++c) {
    double mine[kinds] = {};
    for (int k = 0; k < voxels_of_thread; ++k) {
      if (of[k] < 0) continue;
      const float p = probability(softmax[k], x[k] + c);
      mine[2] += p;
      if (!plain)
        mine[3] +=
            terms.entropy(of[k] == c, p,
                          static_cast<double>(softmax[k].largest - to_float(x[k][c])) + logf(softmax[k].sum));
      if (of[k] != c) continue;
      mine[0] += p;
      mine[1] += 1;
      if (plain)
        mine[3] += static_cast<double>(softmax[k].largest - to_float(x[k][c])) + logf(softmax[k].sum);
    }
    add_threads(shared, mine);
    if (thread < kinds) to[c * kinds + thread] = shared[thread][0];
    __syncthreads();
  }
}

// One thread per plane, channel and kind.
__global__ void add_blocks(Planes planes, const double* written, double* to) {
  const std::int64_t i = index_of_thread(), sums = planes.channels * kinds;
  if (i >= planes.count * sums) return;
  double sum = 0;
  for (std::int64_t b = 0; b < planes.blocks; ++b)
    sum += written[(i / sums * planes.blocks + b) * sums + i % sums];
  to[i] = sum;
}

// One thread per sample, channel and kind.
__global__ void add_planes(Planes planes, const double* found, float* to) {
  const std::int64_t i = index_of_thread(), sums = planes.channels * kinds;
  if (i >= planes.count / planes.depth * sums) return;
  double sum = 0;
  for (std::int64_t z = 0; z < planes.depth; ++z)
    sum += found[(i / sums * planes.depth + z) * sums + i % sums];
  to[i] = static_cast<float>(sum);
}

template <class T>
void find_planes(const Planes& planes, const Terms& terms, bool wide, const KernelArguments& arguments,
                 double* written, double* to) {
  const std::int64_t high = std::min<std::int64_t>(planes.count, 32768);
  const dim3 grid(static_cast<unsigned>(planes.blocks), static_cast<unsigned>(high),
                  static_cast<unsigned>((planes.count + high - 1) / high));
  launch("softmax_loss_sums", terms.plain() ? sums_of_blocks<true, T> : sums_of_blocks<false, T>, grid,
         block_threads, planes, terms, input<T>(arguments, 0), classes_of(arguments, wide), written);
  launch("softmax_loss_sums, blocks", add_blocks, blocks_for(planes.count * planes.channels * kinds),
         block_threads, planes, written, to);
}

template <bool plain, class T>
__global__ void sums_gradient(std::int64_t voxels, std::int64_t of_sample, std::int64_t channels, Terms terms,
                              const T* logits, Classes target, const float* dsums, T* dlogits) {
  const std::int64_t voxel = index_of_thread();
  if (voxel >= voxels) return;
  const T* x = logits + voxel * channels;
  T* to = dlogits + voxel * channels;
  const int of = target.of(voxel);
  if (of >= channels) {
    for (std::int64_t c = 0; c < channels; ++c) set_rounded(to[c], 0.0f);
    return;
  }
  const float* d = dsums + voxel / of_sample * channels * kinds;
  const VoxelSoftmax softmax = look_at(x, channels);
  float mean = probability(softmax, x + of) * d[kinds * of];
  for (std::int64_t c = 0; c < channels; ++c) mean += probability(softmax, x + c) * d[kinds * c + 2];
  const auto flow = [&](std::int64_t c, float p) {
    const float minus_log = softmax.largest - to_float(x[c]) + logf(softmax.sum);
    return d[kinds * c + 3] * terms.gradient(c == of, p, minus_log);
  };
  float all = 0;
  for (std::int64_t c = 0; !plain && c < channels; ++c) all += flow(c, probability(softmax, x + c));
  for (std::int64_t c = 0; c < channels; ++c) {
    const float p = probability(softmax, x + c), t = c == of ? 1.0f : 0.0f;
    const float entropy = plain ? d[kinds * of + 3] * (p - t) : flow(c, p) - p * all;
    set_rounded(to[c], p * (t * d[kinds * c] + d[kinds * c + 2] - mean) + entropy);
  }
}

}  // namespace

std::unique_ptr<Kernel> make_softmax_loss_sums(const Graph& graph, const Node& node, Device&) {
  const Planes planes(input_shape(graph, node));
  const Terms terms(LossTerms(node.attributes), planes.channels);
  const bool wide = are_wide(graph, node);
  WorkspacePlan plan;
  const std::int64_t blocks = plan.book(planes.bytes(planes.blocks)), whole = plan.book(planes.bytes(1));
  return for_type(input_type(graph, node), node.name, [&]<class T>(T) {
    return make_own(
        [=](const KernelArguments& arguments) {
          double* found = place<double>(arguments, whole);
          find_planes<T>(planes, terms, wide, arguments, place<double>(arguments, blocks), found);
          launch("softmax_loss_sums, planes", add_planes,
                 blocks_for(planes.count / planes.depth * planes.channels * kinds), block_threads, planes,
                 found, output<float>(arguments));
        },
        plan.bytes());
  });
}

std::unique_ptr<Kernel> make_softmax_loss_plane_sums(const Graph& graph, const Node& node, Device&) {
  const Planes planes(input_shape(graph, node));
  const Terms terms(LossTerms(node.attributes), planes.channels);
  const bool wide = are_wide(graph, node);
  return for_type(input_type(graph, node), node.name, [&]<class T>(T) {
    return make_own(
        [=](const KernelArguments& arguments) {
          find_planes<T>(planes, terms, wide, arguments, place<double>(arguments, 0),
                         output<double>(arguments));
        },
        planes.bytes(planes.blocks));
  });
}

std::unique_ptr<Kernel> make_softmax_loss_sums_gradient(const Graph& graph, const Node& node, Device&) {
  const Shape& x = input_shape(graph, node);
  const std::int64_t channels = x[4], voxels = x.count() / channels, of_sample = voxels / x[0];
  const Terms terms(LossTerms(node.attributes), channels);
  const bool wide = are_wide(graph, node);
  return for_type(input_type(graph, node), node.name, [&]<class T>(T) {
    return make_own([=](const KernelArguments& arguments) {
      launch("softmax_loss_sums_gradient", terms.plain() ? sums_gradient<true, T> : sums_gradient<false, T>,
             blocks_for(voxels), block_threads, voxels, of_sample, channels, terms, input<T>(arguments, 0),
             classes_of(arguments, wide), input<float>(arguments, 2), output<T>(arguments));
    });
  });
}

}  // namespace voxswap::net::cuda
