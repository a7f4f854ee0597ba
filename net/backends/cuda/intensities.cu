// Augmentation of intensities (net/ops/intensities.cpp). What was drawn is read on the device, so that one
// recorded step serves all samples: kernels of a channel without the change return at once, or copy it if the
// output does not overwrite the input. Launches are the same for all samples.
#include "net/backends/cuda/kernels.h"
#include "net/backends/cuda/launch.cuh"
#include "net/graph/drawn_numbers.h"

namespace voxswap::net::cuda {

namespace {

struct Volume {
  std::int64_t width, height, depth;
  __host__ __device__ std::int64_t voxels() const { return width * height * depth; }
};
Volume volume_of(const Graph& graph, const Node& node) {
  const Shape& shape = input_shape(graph, node);
  return {shape[3], shape[2], shape[1]};
}

__device__ std::int64_t clamped(std::int64_t at, std::int64_t side) {
  return at < 0 ? 0 : at < side ? at : side - 1;
}

__global__ void add_noise(std::int64_t voxels, const double* drawn, const float* x, float* y) {
  const std::int64_t pair = index_of_thread(), v = 2 * pair;
  if (v >= voxels) return;
  const auto deviation = static_cast<float>(drawn[drawn::noise]);
  if (deviation == 0) {
    if (x == y) return;
    y[v] = x[v];
    if (v + 1 < voxels) y[v + 1] = x[v + 1];
    return;
  }
  const Philox::Block words = drawn::noise_of(drawn).block(static_cast<std::uint32_t>(pair / 2));
  const std::uint32_t a = words[pair % 2 == 0 ? 0 : 2], b = words[pair % 2 == 0 ? 1 : 3];
  const float u = (static_cast<float>(a >> 9) + 0.5f) * 0x1p-23f,
              t = (static_cast<float>(b >> 9) + 0.5f) * 0x1p-23f;
  const float radius = deviation * sqrtf(-2.0f * logf(u));
  y[v] = x[v] + radius * cosf(6.28318531f * t);
  if (v + 1 < voxels) y[v + 1] = x[v + 1] + radius * sinf(6.28318531f * t);
}

__global__ void scale_and_shift(std::int64_t voxels, const double* drawn, const float* x, float* y) {
  const std::int64_t v = index_of_thread();
  const auto factor = static_cast<float>(drawn[drawn::brightness]),
             shift = static_cast<float>(drawn[drawn::shift]);
  if (v >= voxels || (x == y && factor == 1 && shift == 0)) return;
  y[v] = x[v] * factor + shift;
}

// One axis of a Gaussian: `side` voxels, `stride` apart. The last of the three axes also copies a channel
// that is not blurred.
__global__ void blur_along(std::int64_t voxels, std::int64_t side, std::int64_t stride, const double* drawn,
                           const float* x, float* y, const float* original) {
  const std::int64_t v = index_of_thread();
  if (v >= voxels) return;
  const auto sigma = static_cast<float>(drawn[drawn::blur]);
  if (sigma == 0) {
    if (original != nullptr && original != y) y[v] = original[v];
    return;
  }
  const std::int64_t at = v / stride % side, first = v - at * stride,
                     radius = drawn::blur_radius(drawn[drawn::blur]);
  float sum = x[v], weights = 1;
  for (std::int64_t k = 1; k <= radius; ++k) {
    const auto distance = static_cast<float>(k) / sigma;
    const float weight = expf(-0.5f * distance * distance);
    sum += weight * (x[first + clamped(at - k, side) * stride] + x[first + clamped(at + k, side) * stride]);
    weights += 2 * weight;
  }
  y[v] = sum / weights;
}

__device__ Volume coarse_of(const Volume& fine, double part) {
  return {drawn::coarse_side(fine.width, part), drawn::coarse_side(fine.height, part),
          drawn::coarse_side(fine.depth, part)};
}

// The value of voxel `v` of a volume of sides `to`, linear between voxels of x.
__device__ float resampled(const Volume& from, const Volume& to, const float* x, std::int64_t v) {
  const std::int64_t sides[3] = {from.width, from.height, from.depth},
                     wanted[3] = {to.width, to.height, to.depth};
  std::int64_t low[3], high[3];
  float part[3];
  for (int k = 0; k < 3; ++k) {
    const std::int64_t i = take_axis(v, wanted[k]);
    double at =
        (static_cast<double>(i) + 0.5) * static_cast<double>(sides[k]) / static_cast<double>(wanted[k]) - 0.5;
    at = at < 0 ? 0 : at < static_cast<double>(sides[k] - 1) ? at : static_cast<double>(sides[k] - 1);
    low[k] = static_cast<std::int64_t>(at);
    high[k] = clamped(low[k] + 1, sides[k]);
    part[k] = static_cast<float>(at - static_cast<double>(low[k]));
  }
  float sum = 0;
  for (int i = 0; i < 8; ++i) {
    const std::int64_t at =
        ((i & 4 ? high[2] : low[2]) * from.height + (i & 2 ? high[1] : low[1])) * from.width +
        (i & 1 ? high[0] : low[0]);
    sum += (i & 1 ? part[0] : 1 - part[0]) * (i & 2 ? part[1] : 1 - part[1]) *
           (i & 4 ? part[2] : 1 - part[2]) * x[at];
  }
  return sum;
}

__global__ void coarsen(Volume fine, const double* drawn, const float* x, float* small) {
  const double part = drawn[drawn::low_resolution];
  const Volume coarse = coarse_of(fine, part);
  const std::int64_t v = index_of_thread();
  if (part != 1 && v < coarse.voxels()) small[v] = resampled(fine, coarse, x, v);
}
__global__ void refine(Volume fine, const double* drawn, const float* small, const float* x, float* y) {
  const double part = drawn[drawn::low_resolution];
  const std::int64_t v = index_of_thread();
  if (v >= fine.voxels() || (part == 1 && x == y)) return;
  y[v] = part == 1 ? x[v] : resampled(coarse_of(fine, part), fine, small, v);
}

// Moments of a channel, in two launches: one block for each chunk, then one thread that adds the chunks in
// order. So they depend only on the shape.
struct Moments {
  double mean, deviation;  // population standard deviation
  float low, high;
};
struct ChunkMoments {
  double sum, squares;
  float low, high;
};
constexpr int voxels_of_thread = 16;
constexpr std::int64_t voxels_of_block = voxels_of_thread * block_threads;

std::int64_t chunks_of(std::int64_t voxels) {
  return (voxels + voxels_of_block - 1) / voxels_of_block;
}

__global__ void sum_chunks(std::int64_t voxels, const double* drawn, int number, float sign, const float* x,
                           ChunkMoments* chunks) {
  __shared__ ChunkMoments shared[block_threads];
  if (drawn[number] == 1) return;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * voxels_of_block;
  const int thread = static_cast<int>(threadIdx.x);
  const float start = x[first] * sign;  // each block has a voxel
  ChunkMoments own = {0, 0, start, start};
  for (int i = 0; i < voxels_of_thread; ++i) {
    const std::int64_t v = first + i * block_threads + thread;
    if (v >= voxels) break;
    const float value = x[v] * sign;
    own.sum += value;
    own.squares += static_cast<double>(value) * value;
    own.low = value < own.low ? value : own.low;
    own.high = value > own.high ? value : own.high;
  }
  shared[thread] = own;
  __syncthreads();
  for (int half = block_threads / 2; half > 0; half /= 2) {
    if (thread < half) {
      ChunkMoments& a = shared[thread];
      const ChunkMoments& b = shared[thread + half];
      a.sum += b.sum;
      a.squares += b.squares;
      a.low = b.low < a.low ? b.low : a.low;
      a.high = b.high > a.high ? b.high : a.high;
    }
    __syncthreads();
  }
  if (thread == 0) chunks[blockIdx.x] = shared[0];
}

__global__ void add_chunks(std::int64_t voxels, std::int64_t count, const double* drawn, int number,
                           const ChunkMoments* chunks, Moments* to) {
  if (drawn[number] == 1) return;
  ChunkMoments all = chunks[0];
  for (std::int64_t i = 1; i < count; ++i) {
    all.sum += chunks[i].sum;
    all.squares += chunks[i].squares;
    all.low = chunks[i].low < all.low ? chunks[i].low : all.low;
    all.high = chunks[i].high > all.high ? chunks[i].high : all.high;
  }
  const double mean = all.sum / static_cast<double>(voxels);
  const double variance = all.squares / static_cast<double>(voxels) - mean * mean;
  *to = {mean, sqrt(variance > 0 ? variance : 0), all.low, all.high};
}

// Workspace of the changes that need moments.
struct MomentsPlace {
  std::int64_t voxels, old, made, chunks, bytes;
  explicit MomentsPlace(std::int64_t count) : voxels(count) {
    WorkspacePlan plan;
    old = plan.book(static_cast<std::int64_t>(sizeof(Moments)));
    made = plan.book(static_cast<std::int64_t>(sizeof(Moments)));
    chunks = plan.book(chunks_of(voxels) * static_cast<std::int64_t>(sizeof(ChunkMoments)));
    bytes = plan.bytes();
  }
  Moments* find(const KernelArguments& arguments, std::int64_t to, const double* drawn, int number,
                float sign, const float* x) const {
    auto* const partial = place<ChunkMoments>(arguments, chunks);
    const std::int64_t count = chunks_of(voxels);
    launch("moments", sum_chunks, dim3(static_cast<unsigned>(count)), block_threads, voxels, drawn, number,
           sign, x, partial);
    launch("moments, finish", add_chunks, dim3(1), 1, voxels, count, drawn, number, partial,
           place<Moments>(arguments, to));
    return place<Moments>(arguments, to);
  }
};

__global__ void change_contrast(std::int64_t voxels, const double* drawn, const Moments* old, const float* x,
                                float* y) {
  const std::int64_t v = index_of_thread();
  const auto factor = static_cast<float>(drawn[drawn::contrast]);
  if (v >= voxels || (factor == 1 && x == y)) return;
  if (factor == 1) {
    y[v] = x[v];
    return;
  }
  const auto mean = static_cast<float>(old->mean);
  const float changed = (x[v] - mean) * factor + mean, above = changed > old->low ? changed : old->low;
  y[v] = above < old->high ? above : old->high;
}

__global__ void apply_gamma(std::int64_t voxels, const double* drawn, int number, float sign,
                            const Moments* old, const float* x, float* y) {
  const std::int64_t v = index_of_thread();
  if (v >= voxels) return;
  const auto gamma = static_cast<float>(drawn[number]);
  if (gamma == 1 || !(old->high > old->low)) {
    if (x != y) y[v] = x[v];
    return;
  }
  const float range = old->high - old->low, part = (x[v] * sign - old->low) / range;
  y[v] = (part > 0 ? powf(part < 1 ? part : 1, gamma) : 0) * range + old->low;
}

// Back to the old mean and deviation.
__global__ void restore_moments(std::int64_t voxels, const double* drawn, int number, float sign,
                                const Moments* old, const Moments* made, float* y) {
  const std::int64_t v = index_of_thread();
  if (v >= voxels || drawn[number] == 1 || !(old->high > old->low)) return;
  const double factor = made->deviation > 0 ? old->deviation / made->deviation : 1;
  y[v] =
      y[v] * (sign * static_cast<float>(factor)) + sign * static_cast<float>(old->mean - made->mean * factor);
}

__global__ void together(std::int64_t voxels, std::int64_t channels, const float* x, float* y) {
  const std::int64_t v = index_of_thread();
  if (v >= voxels) return;
  for (std::int64_t c = 0; c < channels; ++c) y[v * channels + c] = x[c * voxels + v];
}

// Calls change(drawn, x, y, arguments) for each channel.
template <class Change>
std::unique_ptr<Kernel> make_change(const Graph& graph, const Node& node, std::int64_t workspace,
                                    Change change) {
  need_f32(node.name, input_type(graph, node));
  const std::int64_t channels = input_shape(graph, node)[0], voxels = volume_of(graph, node).voxels();
  return make_own(
      [=](const KernelArguments& arguments) {
        for (std::int64_t c = 0; c < channels; ++c)
          change(input<double>(arguments, 1) + c * drawn::channel_numbers,
                 input<float>(arguments, 0) + c * voxels, output<float>(arguments) + c * voxels, arguments);
      },
      workspace);
}

}  // namespace

std::unique_ptr<Kernel> make_add_noise(const Graph& graph, const Node& node, Device&) {
  const std::int64_t voxels = volume_of(graph, node).voxels();
  return make_change(
      graph, node, 0, [=](const double* drawn, const float* x, float* y, const KernelArguments&) {
        launch("add_noise", add_noise, blocks_for((voxels + 1) / 2), block_threads, voxels, drawn, x, y);
      });
}

std::unique_ptr<Kernel> make_scale_and_shift(const Graph& graph, const Node& node, Device&) {
  const std::int64_t voxels = volume_of(graph, node).voxels();
  return make_change(
      graph, node, 0, [=](const double* drawn, const float* x, float* y, const KernelArguments&) {
        launch("scale_and_shift", scale_and_shift, blocks_for(voxels), block_threads, voxels, drawn, x, y);
      });
}

std::unique_ptr<Kernel> make_gaussian_blur(const Graph& graph, const Node& node, Device&) {
  const Volume volume = volume_of(graph, node);
  const std::int64_t voxels = volume.voxels();
  WorkspacePlan plan;
  const std::int64_t first = plan.book(voxels * 4), second = plan.book(voxels * 4);
  return make_change(graph, node, plan.bytes(),
                     [=](const double* drawn, const float* x, float* y, const KernelArguments& arguments) {
                       float *a = place<float>(arguments, first), *b = place<float>(arguments, second);
                       const float* no = nullptr;
                       const auto along = [&](std::int64_t side, std::int64_t stride, const float* from,
                                              float* to, const float* original) {
                         launch("gaussian_blur", blur_along, blocks_for(voxels), block_threads, voxels, side,
                                stride, drawn, from, to, original);
                       };
                       along(volume.depth, volume.width * volume.height, x, a, no);
                       along(volume.height, volume.width, a, b, no);
                       along(volume.width, 1, b, y, x);
                     });
}

std::unique_ptr<Kernel> make_lower_resolution(const Graph& graph, const Node& node, Device&) {
  const Volume fine = volume_of(graph, node);
  const std::int64_t voxels = fine.voxels();
  return make_change(
      graph, node, voxels * 4,
      [=](const double* drawn, const float* x, float* y, const KernelArguments& arguments) {
        float* const small = place<float>(arguments, 0);
        launch("lower_resolution", coarsen, blocks_for(voxels), block_threads, fine, drawn, x, small);
        launch("lower_resolution", refine, blocks_for(voxels), block_threads, fine, drawn, small, x, y);
      });
}

std::unique_ptr<Kernel> make_change_contrast(const Graph& graph, const Node& node, Device&) {
  const MomentsPlace moments(volume_of(graph, node).voxels());
  return make_change(graph, node, moments.bytes,
                     [=](const double* drawn, const float* x, float* y, const KernelArguments& arguments) {
                       const Moments* old =
                           moments.find(arguments, moments.old, drawn, drawn::contrast, 1.0f, x);
                       launch("change_contrast", change_contrast, blocks_for(moments.voxels), block_threads,
                              moments.voxels, drawn, old, x, y);
                     });
}

std::unique_ptr<Kernel> make_change_gamma(const Graph& graph, const Node& node, Device&) {
  const MomentsPlace moments(volume_of(graph, node).voxels());
  const bool inverted = node.attributes.flag("inverted");
  const int number = inverted ? drawn::inverted_gamma : drawn::gamma;
  const float sign = inverted ? -1.0f : 1.0f;
  return make_change(graph, node, moments.bytes,
                     [=](const double* drawn, const float* x, float* y, const KernelArguments& arguments) {
                       const Moments* old = moments.find(arguments, moments.old, drawn, number, sign, x);
                       launch("change_gamma", apply_gamma, blocks_for(moments.voxels), block_threads,
                              moments.voxels, drawn, number, sign, old, x, y);
                       const Moments* made = moments.find(arguments, moments.made, drawn, number, 1.0f, y);
                       launch("change_gamma, moments", restore_moments, blocks_for(moments.voxels),
                              block_threads, moments.voxels, drawn, number, sign, old, made, y);
                     });
}

std::unique_ptr<Kernel> make_channels_together(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, input_type(graph, node));
  const std::int64_t channels = input_shape(graph, node)[0], voxels = volume_of(graph, node).voxels();
  return make_own([=](const KernelArguments& arguments) {
    launch("channels_together", together, blocks_for(voxels), block_threads, voxels, channels,
           input<float>(arguments, 0), output<float>(arguments));
  });
}

}  // namespace voxswap::net::cuda
