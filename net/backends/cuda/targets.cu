// Targets of the loss (net/ops/targets.cpp), one thread per voxel.
#include "net/backends/cuda/kernels.h"
#include "net/backends/cuda/launch.cuh"

namespace voxswap::net::cuda {

namespace {

__global__ void encode(std::int64_t voxels, std::int64_t bytes, const std::uint16_t* labels,
                       const std::uint8_t* table, const std::uint8_t* always, std::uint8_t* y) {
  const std::int64_t v = index_of_thread();
  if (v >= voxels) return;
  for (std::int64_t b = 0; b < bytes; ++b) y[v * bytes + b] = table[labels[v] * bytes + b] | always[b];
}

}  // namespace

std::unique_ptr<Kernel> make_encode_labels(const Graph& graph, const Node& node, Device&) {
  const std::int64_t voxels = input_shape(graph, node).count() / 2, bytes = input_shape(graph, node, 1)[1];
  return make_own([=](const KernelArguments& arguments) {
    launch("encode_labels", encode, blocks_for(voxels), block_threads, voxels, bytes,
           input<std::uint16_t>(arguments, 0), input<std::uint8_t>(arguments, 1),
           input<std::uint8_t>(arguments, 2), output<std::uint8_t>(arguments));
  });
}

}  // namespace voxswap::net::cuda
