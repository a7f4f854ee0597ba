// Soft-max over the channels of a voxel and its cross entropy: a thread per voxel, and of the loss a double
// per block, added up in order.
#include "net/backends/cuda/indices.cuh"
#include "net/backends/cuda/own_kernels.h"
#include "net/backends/cuda/voxel_softmax.cuh"

namespace voxswap::net::cuda {

namespace {

using Class = std::uint8_t;

template <class T>
__global__ void softmax(std::int64_t voxels, std::int64_t channels, const T* x, T* y) {
  const std::int64_t voxel = index_of_thread();
  if (voxel >= voxels) return;
  const T* from = x + voxel * channels;
  const VoxelSoftmax v = look_at(from, channels);
  for (std::int64_t c = 0; c < channels; ++c) set_rounded(y[voxel * channels + c], probability(v, from + c));
}

template <class T>
__device__ double loss_of_voxel(const T* x, std::int64_t channels, Class of) {
  if (of >= channels) return 0;
  const VoxelSoftmax v = look_at(x, channels);
  return static_cast<double>(v.largest - to_float(x[of])) + static_cast<double>(logf(v.sum));
}

template <class T>
__global__ void loss_of_blocks(std::int64_t voxels, std::int64_t channels, const T* logits,
                               const Class* target, double* written) {
  __shared__ double shared[block_threads];
  const std::int64_t voxel = index_of_thread();
  const int thread = static_cast<int>(threadIdx.x);
  shared[thread] = voxel < voxels ? loss_of_voxel(logits + voxel * channels, channels, target[voxel]) : 0;
  __syncthreads();
  for (int half = block_threads / 2; half > 0; half /= 2) {
    if (thread < half) shared[thread] += shared[thread + half];
    __syncthreads();
  }
  if (thread == 0) written[blockIdx.x] = shared[0];
}

// A block per plane.
template <class T>
__global__ void losses_of_planes(std::int64_t plane, std::int64_t channels, double count, const T* logits,
                                 const Class* target, double* to) {
  __shared__ double shared[block_threads];
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * plane;
  double loss = 0;
  for (std::int64_t voxel = first + thread; voxel < first + plane; voxel += block_threads)
    loss += loss_of_voxel(logits + voxel * channels, channels, target[voxel]);
  shared[thread] = loss;
  __syncthreads();
  for (int half = block_threads / 2; half > 0; half /= 2) {
    if (thread < half) shared[thread] += shared[thread + half];
    __syncthreads();
  }
  if (thread == 0) to[blockIdx.x] = shared[0] / count;
}

__global__ void add_losses(const double* written, std::int64_t blocks, double count, float* loss) {
  __shared__ double shared[block_threads];
  const int thread = static_cast<int>(threadIdx.x);
  double sum = 0;
  for (std::int64_t i = thread; i < blocks; i += block_threads) sum += written[i];
  shared[thread] = sum;
  __syncthreads();
  for (int half = block_threads / 2; half > 0; half /= 2) {
    if (thread < half) shared[thread] += shared[thread + half];
    __syncthreads();
  }
  if (thread == 0) *loss = static_cast<float>(shared[0] / count);
}

template <class T>
__global__ void loss_gradient(std::int64_t voxels, std::int64_t channels, double count, const T* logits,
                              const Class* target, const float* dloss, T* dlogits) {
  const std::int64_t voxel = index_of_thread();
  if (voxel >= voxels) return;
  const T* x = logits + voxel * channels;
  const std::int64_t of = target[voxel];
  const VoxelSoftmax v = look_at(x, channels);
  const float factor = of < channels ? static_cast<float>(*dloss / count) : 0.0f;
  for (std::int64_t c = 0; c < channels; ++c)
    set_rounded(dlogits[voxel * channels + c], factor * (probability(v, x + c) - (c == of ? 1.0f : 0.0f)));
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

std::unique_ptr<Kernel> make_softmax_cross_entropy(const Graph& graph, const Node& node, Device&) {
  const Shape& x = input_shape(graph, node);
  const std::int64_t channels = x[4], voxels = x.count() / channels;
  const std::int64_t blocks = (voxels + block_threads - 1) / block_threads;
  const double count = node.attributes.real("count");
  return for_type(input_type(graph, node), node.name, [&]<class T>(T) {
    return make_own(
        [=](const KernelArguments& arguments) {
          double* written = place<double>(arguments, 0);
          launch("softmax_cross_entropy", loss_of_blocks<T>, blocks_for(voxels), block_threads, voxels,
                 channels, input<T>(arguments, 0), input<Class>(arguments, 1), written);
          launch("softmax_cross_entropy, finish", add_losses, dim3(1), block_threads, written, blocks, count,
                 output<float>(arguments));
        },
        blocks * static_cast<std::int64_t>(sizeof(double)));
  });
}

std::unique_ptr<Kernel> make_cross_entropy_plane_sums(const Graph& graph, const Node& node, Device&) {
  const Shape& x = input_shape(graph, node);
  const std::int64_t channels = x[4], plane = x[2] * x[3];
  const auto planes = static_cast<unsigned>(x[0] * x[1]);
  const double count = node.attributes.real("count");
  return for_type(input_type(graph, node), node.name, [&]<class T>(T) {
    return make_own([=](const KernelArguments& arguments) {
      launch("cross_entropy_plane_sums", losses_of_planes<T>, dim3(planes), block_threads, plane, channels,
             count, input<T>(arguments, 0), input<Class>(arguments, 1), output<double>(arguments));
    });
  });
}

std::unique_ptr<Kernel> make_softmax_cross_entropy_gradient(const Graph& graph, const Node& node, Device&) {
  const Shape& x = input_shape(graph, node);
  const std::int64_t channels = x[4], voxels = x.count() / channels;
  const double count = node.attributes.real("count");
  return for_type(input_type(graph, node), node.name, [&]<class T>(T) {
    return make_own([=](const KernelArguments& arguments) {
      launch("softmax_cross_entropy_gradient", loss_gradient<T>, blocks_for(voxels), block_threads, voxels,
             channels, count, input<T>(arguments, 0), input<Class>(arguments, 1), input<float>(arguments, 2),
             output<T>(arguments));
    });
  });
}

}  // namespace voxswap::net::cuda
