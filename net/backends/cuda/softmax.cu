// Soft-max over the channels of a voxel, one thread per voxel.
#include "net/backends/cuda/indices.cuh"
#include "net/backends/cuda/own_kernels.h"
#include "net/backends/cuda/voxel_softmax.cuh"

namespace voxswap::net::cuda {

namespace {

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

}  // namespace voxswap::net::cuda
