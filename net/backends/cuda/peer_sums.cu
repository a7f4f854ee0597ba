#include "net/backends/cuda/launch.h"
#include "net/backends/cuda/peer_sums.h"

namespace voxswap::net::cuda {

namespace {

__global__ void add(float* to, const float* from, std::int64_t count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) to[i] += from[i];
}

}  // namespace

void add_floats(float* to, const float* from, std::int64_t count) {
  if (count > 0) launch("exchange", add, blocks_for(count), block_threads, to, from, count);
}

}  // namespace voxswap::net::cuda
