// The language of CUDA's kernels for the CPU (emulation.h); replaces CUDA's header of this name, with CUDA's
// identifiers.
#pragma once

#include <cuda_runtime_api.h>
#include <math.h>

#include <bit>
#include <tuple>
#include <utility>

#include "tests/cuda_emulation/emulation.h"
#include "tests/cuda_emulation/gpu.h"

#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)
#define __grid_constant__
// A host thread runs one block at a time, so shared memory may be local to the host thread.
#define __shared__ static thread_local

using dim3 = voxswap::emulation::Extent;

inline thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;

inline void __syncthreads() {
  voxswap::emulation::wait_for_block();
}
// Threads of a block take turns only at barriers, so nothing comes in between.
inline unsigned atomicAdd(unsigned* to, unsigned more) {
  return std::exchange(*to, *to + more);
}
inline float __uint_as_float(unsigned bits) {
  return std::bit_cast<float>(bits);
}

// These are never fused with other operations.
inline double __dadd_rn(double a, double b) {
  return a + b;
}
inline double __dmul_rn(double a, double b) {
  return a * b;
}

struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  unsigned long dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
};

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* configuration, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  if (!voxswap::emulation::a_device_could(configuration->gridDim, configuration->blockDim))
    return cudaErrorInvalidConfiguration;
  if (const cudaError_t status =
          voxswap::emulation::load_kernel(reinterpret_cast<const void*>(kernel), configuration->stream);
      status != cudaSuccess)
    return status;
  voxswap::emulation::enqueue(
      configuration->stream, [grid = configuration->gridDim, blocks = configuration->blockDim, kernel,
                              values = std::tuple<Parameters...>(std::forward<Arguments>(arguments)...)] {
        gridDim = grid;
        blockDim = blocks;
        voxswap::emulation::launch(grid, blocks, blockIdx, threadIdx, [&] { std::apply(kernel, values); });
      });
  return cudaSuccess;
}
