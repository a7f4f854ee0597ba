// Tests the emulation itself: it runs kernels like a GPU and detects errors that would fail on a GPU.
#include "tests/cuda_emulation/emulation.h"

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace voxswap::net {
namespace {

using emulation::Order;

template <class... Parameters>
cudaError_t start(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, Parameters... values) {
  cudaLaunchConfig_t configuration;
  configuration.gridDim = blocks;
  configuration.blockDim = threads;
  return cudaLaunchKernelEx(&configuration, kernel, values...);
}

__global__ void count_threads(int* counts) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  ++counts[block * blockDim.x * blockDim.y * blockDim.z + thread];
}

TEST(Emulation, RunsEveryThreadOfEveryBlockOnce) {
  std::vector<int> counts(2 * 3 * 4 * 30, 0);
  EXPECT_EQ(start(count_threads, dim3(2, 3, 4), dim3(5, 3, 2), counts.data()), cudaSuccess);
  EXPECT_EQ(counts, std::vector<int>(2 * 3 * 4 * 30, 1));
}

// Each thread reads the value written by its left neighbour.
__global__ void shift(bool with_barrier, int* result) {
  __shared__ int shared[64];
  shared[threadIdx.x] = 100 * static_cast<int>(blockIdx.x) + static_cast<int>(threadIdx.x);
  if (with_barrier) __syncthreads();
  result[blockIdx.x * 64 + threadIdx.x] = shared[(threadIdx.x + 63) % 64];
}

std::vector<int> shifted(Order order, bool with_barrier) {
  std::vector<int> result(128);
  emulation::set_order(order);
  EXPECT_EQ(start(shift, dim3(2), dim3(64), with_barrier, result.data()), cudaSuccess);
  emulation::set_order(Order::forward);
  return result;
}

TEST(Emulation, BarriersMakeWhatOthersWroteVisibleInEveryOrder) {
  for (Order order : {Order::forward, Order::backward, Order::shuffled}) {
    const std::vector<int> result = shifted(order, true);
    EXPECT_EQ(result[0], 63);
    EXPECT_EQ(result[1], 0);
    EXPECT_EQ(result[64 + 5], 104);
  }
}

TEST(Emulation, AMissingBarrierShowsAsAResultThatDependsOnTheOrder) {
  EXPECT_NE(shifted(Order::forward, false), shifted(Order::backward, false));
}

__global__ void half_of_the_threads_wait() {
  if (threadIdx.x < 16) __syncthreads();
}

TEST(Emulation, ABarrierThatNotAllThreadsReachIsAnError) {
  EXPECT_THROW(start(half_of_the_threads_wait, dim3(1), dim3(32)), std::logic_error);
  std::vector<int> counts(32, 0);  // the next launch still works
  EXPECT_EQ(start(count_threads, dim3(1), dim3(32), counts.data()), cudaSuccess);
  EXPECT_EQ(counts, std::vector<int>(32, 1));
}

TEST(Emulation, RefusesGridsThatNoDeviceTakes) {
  int count = 0;
  EXPECT_EQ(start(count_threads, dim3(1), dim3(1025), &count), cudaErrorInvalidConfiguration);
  EXPECT_EQ(start(count_threads, dim3(1), dim3(32, 33), &count), cudaErrorInvalidConfiguration);
  EXPECT_EQ(start(count_threads, dim3(1, 65536), dim3(1), &count), cudaErrorInvalidConfiguration);
  EXPECT_EQ(start(count_threads, dim3(0), dim3(1), &count), cudaErrorInvalidConfiguration);
  EXPECT_EQ(count, 0);
}

}  // namespace
}  // namespace voxswap::net
