// Gradient clipping by the norm (net/ops/clip.cpp): squares are summed per block, in double, then over blocks
// in order.
#include <algorithm>

#include "net/backends/cuda/indices.cuh"
#include "net/backends/cuda/launch.h"
#include "net/backends/cuda/own_kernels.h"

namespace voxswap::net::cuda {

namespace {

constexpr std::int64_t most_blocks = 256;

// The sum of `mine` over the threads of a block, in the first.
__device__ inline double sum_of_block(double mine) {
  __shared__ double shared[block_threads];
  const int thread = static_cast<int>(threadIdx.x);
  shared[thread] = mine;
  __syncthreads();
  for (int half = block_threads / 2; half > 0; half /= 2) {
    if (thread < half) shared[thread] += shared[thread + half];
    __syncthreads();
  }
  return shared[0];
}

__global__ void squares_of_blocks(std::int64_t count, const float* x, double* written) {
  double sum = 0;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = index_of_thread(); i < count; i += step) sum += static_cast<double>(x[i]) * x[i];
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) written[blockIdx.x] = sum;
}

__global__ void add_blocks(const double* written, int blocks, const float* so_far, float* sum) {
  double all = so_far == nullptr ? 0 : static_cast<double>(*so_far);
  for (int i = 0; i < blocks; ++i) all += written[i];
  *sum = static_cast<float>(all);
}

__global__ void find_factor(const float* squares, const float* scale, double most, float* factor) {
  const double norm = sqrt(static_cast<double>(*squares)) / (scale == nullptr ? 1.0 : scale[0]);
  *factor = static_cast<float>(fmin(1.0, most / (norm + 1e-6)));
}

const float* second(const KernelArguments& arguments) {
  return arguments.inputs.size() > 1 ? input<float>(arguments, 1) : nullptr;
}

}  // namespace

std::unique_ptr<Kernel> make_sum_of_squares(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, input_type(graph, node));
  const std::int64_t count = input_shape(graph, node).count();
  const std::int64_t blocks = std::min(most_blocks, (count + block_threads - 1) / block_threads);
  return make_own(
      [=](const KernelArguments& arguments) {
        double* written = place<double>(arguments, 0);
        launch("sum_of_squares", squares_of_blocks, dim3(static_cast<unsigned>(blocks)), block_threads, count,
               input<float>(arguments, 0), written);
        launch("sum_of_squares, finish", add_blocks, dim3(1), 1, written, static_cast<int>(blocks),
               second(arguments), output<float>(arguments));
      },
      blocks * static_cast<std::int64_t>(sizeof(double)));
}

std::unique_ptr<Kernel> make_clip_factor(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, input_type(graph, node));
  return make_own([most = node.attributes.real("most")](const KernelArguments& arguments) {
    launch("clip_factor", find_factor, dim3(1), 1, input<float>(arguments, 0), second(arguments), most,
           output<float>(arguments));
  });
}

}  // namespace voxswap::net::cuda
