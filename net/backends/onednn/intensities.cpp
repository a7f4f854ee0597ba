// Augmentation of intensities (net/ops/intensities.cpp), one channel after another. Channels without the
// change are copied, or left alone if the output overwrites the input.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "net/backends/onednn/intensities_filters.h"
#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/passes.h"
#include "net/graph/drawn_numbers.h"
#include "net/graph/graph.h"

namespace voxswap::net::onednn {

namespace {

constexpr std::int64_t chunk = 16384;  // voxels per task

std::int64_t voxels_of(const Graph& graph, const Node& node) {
  return input_shape(graph, node).count() / input_shape(graph, node)[0];
}

// Calls change(numbers, x, y, arguments) for each channel whose `number` is not `neutral`.
template <class Change>
std::unique_ptr<Kernel> make_change(const Graph& graph, const Node& node, int number, double neutral,
                                    std::int64_t workspace, Change change) {
  const std::int64_t channels = input_shape(graph, node)[0], voxels = voxels_of(graph, node);
  return make_pass(
      [=](const KernelArguments& arguments) {
        const auto* drawn = input<double>(arguments, 1);
        for (std::int64_t c = 0; c < channels; ++c, drawn += drawn::channel_numbers) {
          const float* const x = input<float>(arguments, 0) + c * voxels;
          float* const y = output<float>(arguments) + c * voxels;
          if (drawn[number] != neutral) {
            change(drawn, x, y, arguments);
          } else if (x != y) {
            copy(y, x, voxels * static_cast<std::int64_t>(sizeof(float)));
          }
        }
      },
      workspace);
}

// y = function(x), element by element. Loops over single floats, which the compiler vectorises.
template <class Function>
struct Elements {
  const float* x;
  float* y;
  Function function;

  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    const Function own = function;
    const float* const from = x;
    float* const to = y;
#pragma GCC ivdep
    for (std::int64_t i = begin; i < end; ++i) to[i] = own(from[i]);
  }
};
template <class Function>
void for_elements(std::int64_t voxels, const float* x, float* y, Function function) {
  parallel(voxels, chunk, Elements<Function>{x, y, function});
}

struct Line {
  float factor, shift;
  VOXSWAP_INLINE float operator()(float x) const { return x * factor + shift; }
};

struct Contrast {
  float mean, factor, low, high;
  VOXSWAP_INLINE float operator()(float x) const {
    const float changed = (x - mean) * factor + mean, above = changed > low ? changed : low;
    return above < high ? above : high;
  }
};

// ((x * sign - low) / range)^gamma * range + low
struct Gamma {
  float sign, low, range, gamma;
  VOXSWAP_INLINE float operator()(float x) const {
    const float part = (x * sign - low) / range;
    const float power = exp_of_negative<float>(log_of<float>(part < 1.0f ? part : 1.0f) * gamma);
    return (part > 1e-30f ? power : 0.0f) * range + low;
  }
};

// Moments of a channel. Sums are made per chunk and added in order, in double.

struct Moments {
  double mean = 0, deviation = 0;  // population standard deviation
  float low = 0, high = 0;
};
struct ChunkMoments {
  double sum, squares;
  float low, high;
};
std::int64_t moments_bytes(std::int64_t voxels) {
  return (voxels + chunk - 1) / chunk * static_cast<std::int64_t>(sizeof(ChunkMoments));
}

struct SumChunks {
  const float* x;
  float sign;
  ChunkMoments* chunks;

  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    constexpr int width = 16;
    double sums[width] = {}, squares[width] = {};
    float low[width], high[width];
    for (int lane = 0; lane < width; ++lane) low[lane] = high[lane] = x[begin] * sign;
    std::int64_t i = begin;
    for (; i + width <= end; i += width)
      for (int lane = 0; lane < width; ++lane) {
        const float v = x[i + lane] * sign;
        sums[lane] += static_cast<double>(v);
        squares[lane] += static_cast<double>(v) * static_cast<double>(v);
        low[lane] = v < low[lane] ? v : low[lane];
        high[lane] = v > high[lane] ? v : high[lane];
      }
    for (int lane = 0; i < end; ++i, ++lane) {
      const float v = x[i] * sign;
      sums[lane] += static_cast<double>(v);
      squares[lane] += static_cast<double>(v) * static_cast<double>(v);
      low[lane] = v < low[lane] ? v : low[lane];
      high[lane] = v > high[lane] ? v : high[lane];
    }
    ChunkMoments all{0, 0, low[0], high[0]};
    for (int lane = 0; lane < width; ++lane) {
      all.sum += sums[lane];
      all.squares += squares[lane];
      all.low = low[lane] < all.low ? low[lane] : all.low;
      all.high = high[lane] > all.high ? high[lane] : all.high;
    }
    chunks[begin / chunk] = all;
  }
};

Moments moments(std::int64_t voxels, const float* x, ChunkMoments* chunks, float sign = 1) {
  parallel(voxels, chunk, SumChunks{x, sign, chunks});
  ChunkMoments all = chunks[0];
  for (std::int64_t i = 1; i < (voxels + chunk - 1) / chunk; ++i) {
    all.sum += chunks[i].sum;
    all.squares += chunks[i].squares;
    all.low = std::min(all.low, chunks[i].low);
    all.high = std::max(all.high, chunks[i].high);
  }
  const auto count = static_cast<double>(voxels);
  const double mean = all.sum / count;
  return {mean, std::sqrt(std::max(all.squares / count - mean * mean, 0.0)), all.low, all.high};
}

// Several blocks of Philox (base/philox.h): words[i][lane] is word i of block first + lane. Enough of them
// that the compiler vectorises loops over lanes rather than unrolling them.
constexpr int blocks_at_once = 64;
constexpr std::int64_t voxels_at_once = 4 * blocks_at_once;
static_assert(chunk % voxels_at_once == 0);
VOXSWAP_INLINE void philox(const Philox::Key& key, std::uint32_t first,
                           std::uint32_t (&words)[4][blocks_at_once]) {
  for (int lane = 0; lane < blocks_at_once; ++lane) {
    words[0][lane] = first + static_cast<std::uint32_t>(lane);
    for (std::size_t i = 1; i < 4; ++i) words[i][lane] = key.counter[i];
  }
  std::uint32_t key0 = key.key[0], key1 = key.key[1];
  for (int round = 0; round < Philox::rounds; ++round) {
    std::uint64_t a[blocks_at_once], b[blocks_at_once];
    for (int lane = 0; lane < blocks_at_once; ++lane)
      a[lane] = std::uint64_t{Philox::multiplier_0} * words[0][lane];
    for (int lane = 0; lane < blocks_at_once; ++lane)
      b[lane] = std::uint64_t{Philox::multiplier_2} * words[2][lane];
    for (int lane = 0; lane < blocks_at_once; ++lane) {
      words[0][lane] = static_cast<std::uint32_t>(b[lane] >> 32) ^ words[1][lane] ^ key0;
      words[1][lane] = static_cast<std::uint32_t>(b[lane]);
      words[2][lane] = static_cast<std::uint32_t>(a[lane] >> 32) ^ words[3][lane] ^ key1;
      words[3][lane] = static_cast<std::uint32_t>(a[lane]);
    }
    key0 += Philox::key_step_0;
    key1 += Philox::key_step_1;
  }
}

struct Noise {
  const float* x;
  float* y;
  Philox::Key key;
  float deviation;

  // REQUIRES: begin is a multiple of voxels_at_once.
  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t i = begin; i < end; i += voxels_at_once) {
      std::uint32_t words[4][blocks_at_once];
      philox(key, static_cast<std::uint32_t>(i / 4), words);
      float normals[voxels_at_once];
      for (int pair = 0; pair < 2; ++pair) {
        const std::uint32_t *u = words[2 * pair], *t = words[2 * pair + 1];
        float cosine[blocks_at_once], sine[blocks_at_once];
        for (int lane = 0; lane < blocks_at_once; ++lane) {
          const float radius = square_root(log_of<float>(part(u[lane])) * -2.0f) * deviation;
          float c, s;
          cos_and_sin_of_turn(part(t[lane]), c, s);
          cosine[lane] = c * radius;
          sine[lane] = s * radius;
        }
        for (int lane = 0; lane < blocks_at_once; ++lane) {
          normals[4 * lane + 2 * pair] = cosine[lane];
          normals[4 * lane + 2 * pair + 1] = sine[lane];
        }
      }
      const std::int64_t count = end - i < voxels_at_once ? end - i : voxels_at_once;
      for (std::int64_t k = 0; k < count; ++k) y[i + k] = x[i + k] + normals[k];
    }
  }

 private:
  static VOXSWAP_INLINE float part(std::uint32_t word) {
    return (static_cast<float>(static_cast<std::int32_t>(word >> 9)) + 0.5f) * 0x1p-23f;
  }
};

// C channels, or any number for C = 0.
template <int C>
struct Together {
  const float* x;
  float* y;
  std::int64_t voxels, channels;
  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    const std::int64_t count = C > 0 ? C : channels;
    for (std::int64_t v = begin; v < end; ++v)
      for (std::int64_t c = 0; c < count; ++c) y[v * count + c] = x[c * voxels + v];
  }
};

}  // namespace

std::unique_ptr<Kernel> make_add_noise(const Graph& graph, const Node& node) {
  const std::int64_t voxels = voxels_of(graph, node);
  return make_change(
      graph, node, drawn::noise, 0, 0,
      [=](const double* drawn, const float* x, float* y, const KernelArguments&) {
        parallel(voxels, chunk,
                 Noise{x, y, drawn::noise_of(drawn).key(), static_cast<float>(drawn[drawn::noise])});
      });
}

std::unique_ptr<Kernel> make_gaussian_blur(const Graph& graph, const Node& node) {
  const Volume volume(input_shape(graph, node));
  WorkspacePlan plan;
  const std::int64_t along_z = plan.book(volume.voxels() * 4),
                     rows = plan.book(volume.depth * volume.width * 4);
  return make_change(
      graph, node, drawn::blur, 0, plan.bytes(),
      [=](const double* drawn, const float* x, float* y, const KernelArguments& arguments) {
        const Gaussian gaussian(drawn[drawn::blur]);
        float* const half = place<float>(arguments, along_z);
        parallel(volume.depth, 1, BlurAlongZ{volume, gaussian, x, half});
        parallel(volume.depth, 1, BlurPlanes{volume, gaussian, half, y, place<float>(arguments, rows)});
      });
}

std::unique_ptr<Kernel> make_scale_and_shift(const Graph& graph, const Node& node) {
  const std::int64_t channels = input_shape(graph, node)[0], voxels = voxels_of(graph, node);
  return make_pass([=](const KernelArguments& arguments) {
    const auto* drawn = input<double>(arguments, 1);
    for (std::int64_t c = 0; c < channels; ++c, drawn += drawn::channel_numbers) {
      const float* const x = input<float>(arguments, 0) + c * voxels;
      float* const y = output<float>(arguments) + c * voxels;
      if (x == y && drawn[drawn::brightness] == 1 && drawn[drawn::shift] == 0) continue;
      for_elements(
          voxels, x, y,
          Line{static_cast<float>(drawn[drawn::brightness]), static_cast<float>(drawn[drawn::shift])});
    }
  });
}

std::unique_ptr<Kernel> make_change_contrast(const Graph& graph, const Node& node) {
  const std::int64_t voxels = voxels_of(graph, node);
  return make_change(graph, node, drawn::contrast, 1, moments_bytes(voxels),
                     [=](const double* drawn, const float* x, float* y, const KernelArguments& arguments) {
                       const Moments old = moments(voxels, x, place<ChunkMoments>(arguments, 0));
                       for_elements(voxels, x, y,
                                    Contrast{static_cast<float>(old.mean),
                                             static_cast<float>(drawn[drawn::contrast]), old.low, old.high});
                     });
}

std::unique_ptr<Kernel> make_lower_resolution(const Graph& graph, const Node& node) {
  const Volume fine(input_shape(graph, node));
  WorkspacePlan plan;
  const std::int64_t each = ResamplePlanes::scratch_floats(fine);
  const std::int64_t small = plan.book(fine.voxels() * 4), scratch = plan.book(fine.depth * each * 4);
  return make_change(graph, node, drawn::low_resolution, 1, plan.bytes(),
                     [=](const double* drawn, const float* x, float* y, const KernelArguments& arguments) {
                       const double part = drawn[drawn::low_resolution];
                       Volume coarse = fine;
                       coarse.width = drawn::coarse_side(fine.width, part);
                       coarse.height = drawn::coarse_side(fine.height, part);
                       coarse.depth = drawn::coarse_side(fine.depth, part);
                       float* const half = place<float>(arguments, small);
                       float* const own = place<float>(arguments, scratch);
                       parallel(coarse.depth, 1, ResamplePlanes{fine, coarse, x, half, own, each});
                       parallel(fine.depth, 1, ResamplePlanes{coarse, fine, half, y, own, each});
                     });
}

std::unique_ptr<Kernel> make_change_gamma(const Graph& graph, const Node& node) {
  const std::int64_t voxels = voxels_of(graph, node);
  const bool inverted = node.attributes.flag("inverted");
  const int number = inverted ? drawn::inverted_gamma : drawn::gamma;
  return make_change(
      graph, node, number, 1, moments_bytes(voxels),
      [=](const double* drawn, const float* x, float* y, const KernelArguments& arguments) {
        const float sign = inverted ? -1.0f : 1.0f;
        auto* const chunks = place<ChunkMoments>(arguments, 0);
        const Moments old = moments(voxels, x, chunks, sign);
        if (!(old.high > old.low)) return for_elements(voxels, x, y, Line{1, 0});
        for_elements(voxels, x, y,
                     Gamma{sign, old.low, old.high - old.low, static_cast<float>(drawn[number])});
        const Moments made = moments(voxels, y, chunks);
        const double factor = made.deviation > 0 ? old.deviation / made.deviation : 1;
        const double shift = old.mean - made.mean * factor;
        for_elements(voxels, y, y, Line{sign * static_cast<float>(factor), sign * static_cast<float>(shift)});
      });
}

std::unique_ptr<Kernel> make_channels_together(const Graph& graph, const Node& node) {
  const std::int64_t channels = input_shape(graph, node)[0], voxels = voxels_of(graph, node);
  return make_pass([=](const KernelArguments& arguments) {
    const auto run = [&](auto number) {
      parallel(voxels, chunk,
               Together<decltype(number)::value>{input<float>(arguments, 0), output<float>(arguments), voxels,
                                                 channels});
    };
    if (channels == 2) return run(std::integral_constant<int, 2>());
    if (channels == 4) return run(std::integral_constant<int, 4>());
    run(std::integral_constant<int, 0>());
  });
}

}  // namespace voxswap::net::onednn
