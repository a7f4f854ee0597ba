#include "net/backends/cuda/head_convolution.h"
#include "net/backends/cuda/launch.cuh"
#include "net/backends/cuda/passes.cuh"
#include "net/backends/cuda/weights.h"
#include "net/backends/cuda/workspace.h"

namespace voxswap::net::cuda {

namespace {

constexpr int most_outputs = 4, most_channels = 64;

struct Head {
  std::int64_t voxels;
  int channels, outputs;
};

// All threads of a block read the same weights at a time: the four of a channel are adjacent.
struct SharedWeights {
  float of_channel[most_channels][most_outputs];

  __device__ void copy(const Head& head, const float* w) {
    for (int i = static_cast<int>(threadIdx.x); i < head.channels * most_outputs; i += block_threads) {
      const int channel = i / most_outputs, out = i % most_outputs;
      of_channel[channel][out] = out < head.outputs ? w[out * head.channels + channel] : 0.0f;
    }
    __syncthreads();
  }
};

// One thread per voxel.
template <class T>
__global__ void head_convolution(Head head, const T* x, const float* w, const float* bias, T* y) {
  __shared__ SharedWeights weights;
  weights.copy(head, w);
  const std::int64_t voxel = index_of_thread();
  if (voxel >= head.voxels) return;
  const int vectors = head.channels / full_width<T>;
  float sums[most_outputs] = {};
  for (int vector = 0; vector < vectors; ++vector) {
    const auto loaded = load<full_width<T>>(x, voxel * vectors + vector);
#pragma unroll
    for (int lane = 0; lane < full_width<T>; ++lane)
#pragma unroll
      for (int out = 0; out < most_outputs; ++out)
        sums[out] += to_float(loaded.lane[lane]) * weights.of_channel[vector * full_width<T> + lane][out];
  }
#pragma unroll
  for (int out = 0; out < most_outputs; ++out)
    if (out < head.outputs)
      set_rounded(y[voxel * head.outputs + out], bias == nullptr ? sums[out] : sums[out] + bias[out]);
}

template <class T>
__device__ void load_gradient(const Head& head, const T* dy, std::int64_t voxel,
                              float (&gradient)[most_outputs]) {
#pragma unroll
  for (int out = 0; out < most_outputs; ++out)
    gradient[out] = out < head.outputs ? to_float(dy[voxel * head.outputs + out]) : 0.0f;
}

template <class T>
__global__ void head_data_gradient_of_voxels(Head head, const T* dy, const float* w, T* dx) {
  __shared__ SharedWeights weights;
  weights.copy(head, w);
  const std::int64_t voxel = index_of_thread();
  if (voxel >= head.voxels) return;
  float gradient[most_outputs];
  load_gradient(head, dy, voxel, gradient);
  const int vectors = head.channels / full_width<T>;
  for (int vector = 0; vector < vectors; ++vector) {
    Vector<T, full_width<T>> result;
#pragma unroll
    for (int lane = 0; lane < full_width<T>; ++lane) {
      float sum = 0;
#pragma unroll
      for (int out = 0; out < most_outputs; ++out)
        sum += gradient[out] * weights.of_channel[vector * full_width<T> + lane][out];
      set_rounded(result.lane[lane], sum);
    }
    store(dx, voxel * vectors + vector, result);
  }
}

// Sums over the voxels: per channel, one for each output (passes.cuh).
template <class T>
__global__ void head_weight_gradient_of_blocks(Rows rows, Head head, const T* x, const T* dy,
                                               double* written) {
  constexpr int width = full_width<T>;
  struct Loaded {
    Vector<T, width> x;
    float dy[most_outputs];
  };
  float sums[most_outputs][width] = {};
  go_down<4>(
      walk_of_thread(rows),
      [&](std::int64_t vector) {
        Loaded loaded;
        loaded.x = load<width>(x, vector);
        load_gradient(head, dy, vector / rows.row, loaded.dy);
        return loaded;
      },
      [&](std::int64_t, const Loaded& loaded) {
#pragma unroll
        for (int out = 0; out < most_outputs; ++out)
#pragma unroll
          for (int lane = 0; lane < width; ++lane)
            sums[out][lane] += to_float(loaded.x.lane[lane]) * loaded.dy[out];
      });
  double doubles[most_outputs][width];
  for (int out = 0; out < most_outputs; ++out)
    for (int lane = 0; lane < width; ++lane) doubles[out][lane] = sums[out][lane];
  write_sums_of_block<width, most_outputs>(rows, doubles, written);
}

struct TakeWeights {
  float* dw;
  Head head;
  __device__ void operator()(std::int64_t, int channel, const double (&found)[most_outputs]) const {
    for (int out = 0; out < head.outputs; ++out)
      dw[out * head.channels + channel] = static_cast<float>(found[out]);
  }
};

Head head_of(const ConvolutionProblem& problem) {
  return {problem.x.count() / problem.x[4], static_cast<int>(problem.x[4]), static_cast<int>(problem.y[4])};
}

}  // namespace

bool is_head(const ConvolutionProblem& problem, bool bias) {
  using Kind = ConvolutionProblem::Kind;
  return is_matrix_product(problem) && problem.start != ConvolutionProblem::Start::sum &&
         !(bias && problem.kind == Kind::data_gradient) && problem.y[4] <= most_outputs &&
         problem.x[4] <= most_channels && problem.x[4] * element_bytes(problem.type) % voxel_alignment == 0;
}

std::unique_ptr<Kernel> head_forward(const ConvolutionProblem& problem) {
  const Head head = head_of(problem);
  const bool bias = problem.start == ConvolutionProblem::Start::bias;
  return for_type(problem.type, "a head", [&]<class T>(T) {
    return make_own([=](const KernelArguments& arguments) {
      launch("head_convolution", head_convolution<T>, blocks_for(head.voxels), block_threads, head,
             input<T>(arguments, 0), input<float>(arguments, 1), bias ? input<float>(arguments, 2) : nullptr,
             output<T>(arguments));
    });
  });
}

std::unique_ptr<Kernel> head_data_gradient(const ConvolutionProblem& problem) {
  const Head head = head_of(problem);
  return for_type(problem.type, "a head", [&]<class T>(T) {
    return make_own([=](const KernelArguments& arguments) {
      launch("head_data_gradient", head_data_gradient_of_voxels<T>, blocks_for(head.voxels), block_threads,
             head, input<T>(arguments, 0), input<float>(arguments, 1), output<T>(arguments));
    });
  });
}

std::unique_ptr<Kernel> head_weight_gradient(const ConvolutionProblem& problem, bool bias, Device& device) {
  const Head head = head_of(problem);
  const ElementType type = problem.type;
  return for_type(type, "a head", [&]<class T>(T) {
    const Rows rows = cut_rows(device, 1, head.voxels, head.channels, full_width<T>, of_a_sum);
    DeviceWorkspace plan;
    const std::int64_t sums = plan.book(sums_bytes(rows, most_outputs));
    const std::int64_t of_bias =
        bias ? plan.book(channel_sums_workspace(type, head.voxels, head.outputs, device)) : 0;
    return make_own(
        [=, &device](const KernelArguments& arguments) {
          double* const written = DeviceWorkspace::at<double>(arguments, sums);
          launch("head_weight_gradient", head_weight_gradient_of_blocks<T>, blocks_of(rows), rows.threads(),
                 rows, head, input<T>(arguments, 0), input<T>(arguments, 1), written);
          launch_finish<most_outputs>("head_weight_gradient", rows, written,
                                      TakeWeights{output<float>(arguments), head});
          if (bias)
            channel_sums(arguments.inputs[1], output<float>(arguments, 1), type, head.voxels, head.outputs,
                         DeviceWorkspace::at<void>(arguments, of_bias), device);
        },
        plan.bytes());
  });
}

}  // namespace voxswap::net::cuda
