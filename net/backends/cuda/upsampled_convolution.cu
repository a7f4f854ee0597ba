// The parts of a convolution of an upsampled volume besides the convolution itself
// (net/ops/upsampled_convolution.cpp): the kernels of its eight phases, and the rearrangement of its output.
#include "net/backends/cuda/kernels.h"
#include "net/backends/cuda/launch.cuh"

namespace voxswap::net::cuda {

namespace {

// First and last of an axis's 3 taps that add up to tap `tap` of a phase's 2.
__device__ inline int first_tap(int phase, int tap) {
  return tap == 0 ? 0 : 1 + phase;
}
__device__ inline int last_tap(int phase, int tap) {
  return tap == 0 ? phase : 2;
}
// The inverse.
__device__ inline int tap_of(int phase, int k) {
  return (k + 1 - phase) / 2;
}

// One thread per element of the kernels [8][pairs][8].
__global__ void upsampled_weights(std::int64_t pairs, const float* w, float* kernels) {
  const std::int64_t i = index_of_thread();
  if (i >= 64 * pairs) return;
  const int tap = static_cast<int>(i % 8), phase = static_cast<int>(i / 8 / pairs);
  const float* of_pair = w + i / 8 % pairs * 27;
  const int pz = phase >> 2, py = phase >> 1 & 1, px = phase & 1, tz = tap >> 2, ty = tap >> 1 & 1,
            tx = tap & 1;
  float sum = 0;
  for (int z = first_tap(pz, tz); z <= last_tap(pz, tz); ++z)
    for (int y = first_tap(py, ty); y <= last_tap(py, ty); ++y)
      for (int x = first_tap(px, tx); x <= last_tap(px, tx); ++x) sum += of_pair[9 * z + 3 * y + x];
  kernels[i] = sum;
}

__global__ void upsampled_weights_gradient(std::int64_t pairs, const float* kernels, float* dw) {
  const std::int64_t i = index_of_thread();
  if (i >= 27 * pairs) return;
  const int k = static_cast<int>(i % 27);
  float sum = 0;
  for (int phase = 0; phase < 8; ++phase) {
    const int tap =
        4 * tap_of(phase >> 2, k / 9) + 2 * tap_of(phase >> 1 & 1, k / 3 % 3) + tap_of(phase & 1, k % 3);
    sum += kernels[(phase * pairs + i / 27) * 8 + tap];
  }
  dw[i] = sum;
}

// Both volumes in units of memory, `columns` per phase of a voxel.
template <class Index>
struct Phases {
  Index depth, height, width;  // of z, one more than half of y's
  Index columns;
  std::int64_t fine_depth, shift;  // of y; the plane of y from which plane 0 of z takes its even phases
};

// One thread per unit of z. y[2 j + p] = z[j + p]: voxel i of z gives phase p to 2 (i - p) + p, if that is
// inside.
template <bool scatters, class Unit, class Index>
__global__ void interleave(Index units, Phases<Index> phases, Unit* z, Unit* y) {
  const std::int64_t at = index_of_thread();
  if (at >= static_cast<std::int64_t>(units)) return;
  Index rest = static_cast<Index>(at);
  const std::int64_t column = take_axis(rest, phases.columns), phase = take_axis(rest, Index{8});
  const std::int64_t x = take_axis(rest, phases.width), row = take_axis(rest, phases.height);
  const std::int64_t plane = take_axis(rest, phases.depth), sample = static_cast<std::int64_t>(rest);
  const std::int64_t d = phases.fine_depth, h = 2 * static_cast<std::int64_t>(phases.height - 1),
                     w = 2 * static_cast<std::int64_t>(phases.width - 1);
  const std::int64_t to_z = 2 * plane - (phase >> 2) + phases.shift, to_y = 2 * row - (phase >> 1 & 1),
                     to_x = 2 * x - (phase & 1);
  const bool inside = to_z >= 0 && to_z < d && to_y >= 0 && to_y < h && to_x >= 0 && to_x < w;
  const std::int64_t fine =
      (((sample * d + to_z) * h + to_y) * w + to_x) * static_cast<std::int64_t>(phases.columns) + column;
  if constexpr (scatters) {
    if (inside) y[fine] = z[at];
  } else {
    z[at] = inside ? y[fine] : Unit{};
  }
}

template <bool scatters>
std::unique_ptr<Kernel> make_interleaving(const Shape& z, const Shape& y, std::int64_t shift,
                                          ElementType type) {
  const std::int64_t bytes = element_bytes(type), channels = z[4] / 8, depth = y[1];
  return make_own([=](const KernelArguments& arguments) {
    for_unit(channels * bytes, [&]<class Unit>(Unit) {
      const std::int64_t size = static_cast<std::int64_t>(sizeof(Unit)) / bytes, units = z.count() / size;
      void *const from = arguments.inputs[0], *const to = arguments.outputs[0];
      for_index(units, [&]<class Index>() {
        const auto index = [](std::int64_t value) { return static_cast<Index>(value); };
        const Phases<Index> phases = {index(z[1]), index(z[2]), index(z[3]), index(channels / size),
                                      depth,       shift};
        launch(scatters ? "interleave" : "interleave_gradient", interleave<scatters, Unit, Index>,
               blocks_for(units), block_threads, units, phases, static_cast<Unit*>(scatters ? from : to),
               static_cast<Unit*>(scatters ? to : from));
      });
    });
  });
}

}  // namespace

std::unique_ptr<Kernel> make_upsampled_weights(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, input_type(graph, node));
  const Shape& w = input_shape(graph, node);
  const std::int64_t pairs = w[0] * w[1];
  return make_own([=](const KernelArguments& arguments) {
    launch("upsampled_weights", upsampled_weights, blocks_for(64 * pairs), block_threads, pairs,
           input<float>(arguments, 0), output<float>(arguments));
  });
}

std::unique_ptr<Kernel> make_upsampled_weights_gradient(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, input_type(graph, node));
  const Shape& dw = output_shape(graph, node);
  const std::int64_t pairs = dw[0] * dw[1];
  return make_own([=](const KernelArguments& arguments) {
    launch("upsampled_weights_gradient", upsampled_weights_gradient, blocks_for(27 * pairs), block_threads,
           pairs, input<float>(arguments, 0), output<float>(arguments));
  });
}

std::unique_ptr<Kernel> make_interleave(const Graph& graph, const Node& node, Device&) {
  return make_interleaving<true>(input_shape(graph, node), output_shape(graph, node), 0,
                                 input_type(graph, node));
}

std::unique_ptr<Kernel> make_interleave_gradient(const Graph& graph, const Node& node, Device&) {
  return make_interleaving<false>(output_shape(graph, node), input_shape(graph, node),
                                  node.attributes.integer_or("shift", 0), input_type(graph, node));
}

}  // namespace voxswap::net::cuda
